//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/inject"
)

// What a session begins with must never exceed the budget, not even before the
// profile was fitted; what is cut off then must be neither the newest nor what the
// user said; and a session that is opened again must get the same bytes, or the
// host's cache of the prompt is lost.
func TestSessionBudget(t *testing.T) {
	for name, text := range map[string]string{
		"english": "In module m%02d always call the helper h%02d before returning anything to the caller.",
		"chinese": "在模块m%02d里返回之前必须先调用辅助函数h%02d，并且检查它的返回值是否为空，不要忽略错误。",
	} {
		t.Run(name, func(t *testing.T) {
			var list []*stillso.Memory
			for i := range 90 {
				m := memory(fmt.Sprintf("m%02d", i), "", fmt.Sprintf(text, i, i))
				m.Resident, m.Origin = true, stillso.FromImport
				m.UpdatedAt = m.UpdatedAt.Add(time.Duration(i) * time.Hour)
				list = append(list, m)
			}
			list[40].Origin, list[40].Priority = stillso.FromUser, 1
			w := newWorld(t, list...)
			start := func() string { return w.send("session-start", map[string]any{"source": "clear"}) }
			first := start()
			if len(first) > inject.SessionBytes || inject.Tokens(first) > inject.SessionTokens {
				t.Errorf("%d bytes, %d tokens", len(first), inject.Tokens(first))
			}
			if n := strings.Count(first, "\n- ["); n < 20 || !strings.Contains(first, "· m40]") || !strings.Contains(first, "· m89]") || strings.Contains(first, "· m00]") {
				t.Errorf("%d lines:\n%s", n, first)
			}
			if again := start(); again != first {
				t.Errorf("other bytes the second time:\n%s", again)
			}
		})
	}
}
