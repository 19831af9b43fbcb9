package main

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"stillso"
)

// The receipt is a published line: written by hand it must stay what encoding/json
// writes, also when the type gets a new field.
func TestReceiptLine(t *testing.T) {
	full := stillso.Receipt{
		V: 1, At: time.Date(2026, 5, 6, 7, 8, 9, 1230, time.UTC), Host: "h\"\\", Event: "e\n", Session: "s", Namespace: "project/ü",
		Terms: []string{"a", "内\u2028"}, Hits: []stillso.ReceiptHit{{ID: "x", Score: 1.5, Strength: 0.01, Shown: true}, {ID: "y", Why: "too weak"}},
		Silence: "no", Threshold: 3.61, Micros: 12, Bytes: 7,
	}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s empty", v.Type().Field(i).Name)
		}
	}
	for _, r := range []stillso.Receipt{full, {}, {Hits: []stillso.ReceiptHit{{}}}} {
		line := appendReceipt(nil, &r)
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(line) != string(want) {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
	var back stillso.Receipt
	if err := json.Unmarshal(appendReceipt(nil, &stillso.Receipt{Threshold: math.NaN(), Hits: []stillso.ReceiptHit{{Score: math.Inf(1)}}}), &back); err != nil {
		t.Error(err)
	}
}

// The same for a line of the queue.
func TestQueueLine(t *testing.T) {
	at := time.Date(2026, 5, 6, 7, 8, 9, 1230, time.UTC)
	for _, q := range []stillso.QueueItem{
		{Kind: "capture", Key: "k\"", Payload: map[string]string{"b": "1", "a": "\n", "c": ""}, At: at},
		{ID: 3, Attempts: 4, At: at},
	} {
		want, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if line := appendItem(nil, &q); string(line) != string(want) {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
}
