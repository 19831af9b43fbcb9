package eval

import (
	"context"
	"testing"
)

// Search over long texts must not get worse on public data.
func TestBench(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		least        float64
	}{
		{"devmembench", "R@2", 87}, {"devmembench", "R@5", 94}, {"beam-100k", "any@5", 90}, {"cosqa", "R@5", 48}, {"cmrc2018", "R@1", 97}, {"drcd", "R@1", 93},
	} {
		f, err := Bench(context.Background(), c.name, sharedDir(t, "bench", c.name))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d documents, %d questions, %v", c.name, f.Documents, f.Questions, f.Metrics)
		if f.Metrics[c.metric] < c.least {
			t.Errorf("%s: %s is %.1f, want %.1f", c.name, c.metric, f.Metrics[c.metric], c.least)
		}
	}
	if _, err := Bench(context.Background(), "nosuch", t.TempDir()); err == nil {
		t.Error("an unknown benchmark is no error")
	}
}
