package main

import (
	"math"
	"strconv"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/host"
)

// receipt appends what the recall did: terms of the index and figures, no prompt.
func (h *hook) receipt(a answer) {
	r := a.receipt
	r.V, r.At, r.Host, r.Event, r.Session, r.Namespace = 1, h.start.UTC(), h.hostName, h.event, h.call.Session, h.place.Namespace
	r.Micros, r.Bytes = time.Since(h.start).Microseconds(), len(a.text)
	for {
		line := appendReceipt(make([]byte, 0, 1024), &r)
		if len(line) < home.MaxLine || len(r.Terms)+len(r.Hits) == 0 {
			h.dir.Append(home.Receipts, line) //nolint:errcheck,gosec // a full disk costs a receipt, nothing else
			return
		}
		r.Terms, r.Hits = r.Terms[:len(r.Terms)/2], r.Hits[:len(r.Hits)/2]
	}
}

// appendReceipt writes a receipt as encoding/json does (a test compares them), which
// would cost a tenth of the whole call: its tables of types are built anew each time.
func appendReceipt(out []byte, r *stillso.Receipt) []byte {
	out = append(out, `{"v":`...)
	out = strconv.AppendInt(out, int64(r.V), 10)
	out = append(out, `,"at":"`...)
	out = r.At.AppendFormat(out, time.RFC3339Nano)
	out = append(out, '"')
	out = appendField(out, "host", r.Host, true)
	out = appendField(out, "event", r.Event, true)
	out = appendField(out, "session", r.Session, false)
	out = appendField(out, "namespace", string(r.Namespace), true)
	if len(r.Terms) > 0 {
		out = append(out, `,"terms":`...)
		for i, t := range r.Terms {
			out = append(out, "[,"[min(i, 1)])
			out = host.AppendText(out, t)
		}
		out = append(out, ']')
	}
	if len(r.Hits) > 0 {
		out = append(out, `,"hits":`...)
		for i, x := range r.Hits {
			out = append(out, "[,"[min(i, 1)])
			out = append(out, `{"id":`...)
			out = host.AppendText(out, x.ID)
			out = appendNumber(out, "score", x.Score, true)
			out = appendNumber(out, "strength", x.Strength, true)
			out = append(out, `,"shown":`...)
			out = strconv.AppendBool(out, x.Shown)
			out = appendField(out, "why", x.Why, false)
			out = append(out, '}')
		}
		out = append(out, ']')
	}
	out = appendField(out, "silence", r.Silence, false)
	out = appendNumber(out, "threshold", r.Threshold, false)
	out = append(out, `,"us":`...)
	out = strconv.AppendInt(out, r.Micros, 10)
	if r.Bytes != 0 {
		out = append(out, `,"bytes":`...)
		out = strconv.AppendInt(out, int64(r.Bytes), 10)
	}
	return append(out, '}')
}

func appendField(out []byte, key, value string, always bool) []byte {
	if value == "" && !always {
		return out
	}
	out = append(append(append(out, `,"`...), key...), `":`...)
	return host.AppendText(out, value)
}

func appendNumber(out []byte, key string, x float64, always bool) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	if x == 0 && !always {
		return out
	}
	out = append(append(append(out, `,"`...), key...), `":`...)
	return strconv.AppendFloat(out, x, 'f', -1, 64)
}
