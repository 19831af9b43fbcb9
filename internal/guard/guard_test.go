package guard

import (
	"strings"
	"testing"
	"time"

	"stillso"
)

func memory(content string, typ stillso.Type, origin stillso.Origin) *stillso.Memory {
	m := &stillso.Memory{Content: content, Type: typ, Namespace: "project/p", Origin: origin}
	m.Default(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	return m
}

// A guard that lets too much through loses knowledge for good: similarity is not
// supersession.
func TestGuards(t *testing.T) {
	const old = "Session tokens of the gateway live 24 hours."
	user, decision := stillso.FromUser, stillso.Decision
	elsewhere := memory("Session tokens of the gateway live 12 hours.", decision, user)
	elsewhere.Namespace = "project/q"
	retired := memory(old, decision, user)
	retired.State = stillso.Retired
	long := memory(old, decision, user)
	long.Body = old + "\n\nThey are bound to the device fingerprint, refreshed hourly by the ledger worker, and revoked by the console of the support team."
	for name, c := range map[string]struct {
		c    Case
		want string // part of the reason; "" passes
	}{
		"passes":               {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), memory(old, decision, user), stillso.Conflicts, 0.85}, ""},
		"covers":               {Case{memory("Session tokens of the gateway live 24 hours and are bound to a device.", decision, user), memory(old, decision, user), stillso.Covers, 0.85}, ""},
		"unsure":               {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), memory(old, decision, user), stillso.Conflicts, 0.74}, "confidence"},
		"other type":           {Case{memory("Session tokens of the gateway live 12 hours.", stillso.Fact, user), memory(old, decision, user), stillso.Conflicts, 0.9}, "does not supersede"},
		"event":                {Case{memory("The gateway session tokens leaked in June.", stillso.Event, user), memory("The gateway session tokens leaked in May.", stillso.Event, user), stillso.Conflicts, 0.9}, "event"},
		"one shared topic":     {Case{memory("The gateway runs in Frankfurt.", decision, user), memory(old, decision, user), stillso.Conflicts, 0.9}, "topics"},
		"only technology":      {Case{memory("Docker images for Postgres are slim.", decision, user), memory("Docker and Postgres run on Linux.", decision, user), stillso.Conflicts, 0.9}, "topics"},
		"partial cover":        {Case{memory("Session tokens of the gateway live 24 hours.", decision, user), memory("Session tokens of the gateway live 24 hours, refresh tokens thirty days, and devices are bound by fingerprint.", decision, user), stillso.Covers, 0.9}, "speaks of"},
		"inferred over user":   {Case{memory("Session tokens of the gateway live 12 hours.", decision, stillso.FromInferred), memory(old, decision, user), stillso.Conflicts, 0.9}, "cannot supersede"},
		"file":                 {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), memory(old, decision, stillso.FromFile), stillso.Conflicts, 0.9}, "file"},
		"namespace":            {Case{elsewhere, memory(old, decision, user), stillso.Conflicts, 0.9}, "namespaces"},
		"retired":              {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), retired, stillso.Conflicts, 0.9}, "not active"},
		"relation supplements": {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), memory(old, decision, user), stillso.Supplements, 0.9}, "supersedes nothing"},
		"a longer body":        {Case{memory("Session tokens of the gateway live 12 hours.", decision, user), long, stillso.Conflicts, 0.9}, "speaks of"},
		"pointers":             {Case{memory("Billing deploy: docs/release.md, docs/hotfix.md, docs/rollback.md step by step.", stillso.Reference, user), memory("Rollback of the billing deploy: docs/rollback.md, step by step.", stillso.Reference, user), stillso.Covers, 0.9}, "pointers"},
		"one of six":           {Case{memory("The time zone of the exporter is fixed.", stillso.Fact, user), memory("Exporter: time zone, memory, login, e2e, cache, index.", stillso.Fact, user), stillso.Conflicts, 0.9}, "lists 6 items"},
		"missing":              {Case{nil, memory(old, decision, user), stillso.Conflicts, 0.9}, "missing"},
	} {
		got := Check(c.c)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
