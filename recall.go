package stillso

import "time"

// Receipt is what one recall did, without the prompt's text: terms of the index
// and figures only. It is one JSON line of a spool file (docs/format.md).
type Receipt struct {
	// V is the version of the line.
	V         int       `json:"v"`
	At        time.Time `json:"at"`
	Host      string    `json:"host"`
	Event     string    `json:"event"`
	Session   string    `json:"session,omitempty"`
	Namespace Namespace `json:"namespace"`
	// Terms are those of the prompt that the index knows, most telling first.
	Terms []string     `json:"terms,omitempty"`
	Hits  []ReceiptHit `json:"hits,omitempty"`
	// Silence is the reason, in words, why nothing was injected; empty after a hit.
	Silence string `json:"silence,omitempty"`
	// Threshold is what the best strength had to reach.
	Threshold float64 `json:"threshold,omitempty"`
	// Micros is the time spent from start to output, in microseconds.
	Micros int64 `json:"us"`
	// Bytes is the size of the block.
	Bytes int `json:"bytes,omitempty"`
}

// ReceiptHit is one memory that a recall weighed.
type ReceiptHit struct {
	ID       string  `json:"id"`
	Score    float64 `json:"score"`
	Strength float64 `json:"strength"`
	// Shown is false for a candidate that the gate or a rule held back; Why says
	// which one.
	Shown bool   `json:"shown"`
	Why   string `json:"why,omitempty"`
}
