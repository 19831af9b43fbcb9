package background

import (
	"fmt"
	"math"
	"testing"
)

// A share that comes back wrong moves every threshold.
func TestPack(t *testing.T) {
	shares := map[string]float64{"file": 0.3, "配置": 0.01, "rare": 0.00003, "all": 1, "none": 0}
	for i := range 5000 {
		shares[fmt.Sprint("word", i)] = 0.001
	}
	table, err := Open(string(Pack(shares, 1234)))
	if err != nil {
		t.Fatal(err)
	}
	if table.Texts != 1234 {
		t.Errorf("%v texts", table.Texts)
	}
	for term, want := range shares {
		got, known := table.Share(term)
		if known != (want > 0) || want > 0 && math.Abs(math.Log(got/want)) > 0.04 {
			t.Errorf("%s: got %v %v, want %v", term, got, known, want)
		}
	}
	wrong := 0
	for i := range 10000 {
		if _, known := table.Share(fmt.Sprint("absent", i)); known {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 10000 absent terms are taken for others", wrong)
	}
}

// The learnt table comes from a file: whatever stands there, recall goes on.
func FuzzOpen(f *testing.F) {
	f.Add(Pack(map[string]float64{"a": 0.5, "b": 0.1}, 3), "a")
	f.Add([]byte("sbg1"), "x")
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, data []byte, term string) {
		table, err := Open(string(data))
		if err != nil {
			return
		}
		if s, known := table.Share(term); known && !(s > 0 && s <= 1) {
			t.Fatalf("share %v", s)
		}
	})
}

// What every developer says must be known as common, in every shipped language.
func TestShipped(t *testing.T) {
	table := Shipped()
	for term, least := range map[string]float64{"file": 0.05, "test": 0.03, "文": 0.01, "파일": 0.01, "データ": 0, "デー": 0.005, "fichier": 0.005, "archivo": 0.005, "файл": 0.005} {
		if got, _ := table.Share(term); got < least {
			t.Errorf("%s: share %v, want at least %v", term, got, least)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Shipped().Share("file") }); n > 0 {
		t.Errorf("a lookup allocates %v times", n)
	}
}
