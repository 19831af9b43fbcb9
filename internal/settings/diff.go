package settings

import (
	"fmt"
	"strings"
)

// Diff shows a plan as people read changes: lines that go with -, lines that
// come with +, two lines around them. It is "" if nothing changes.
func (p *Plan) Diff() string {
	if !p.Changed() {
		return ""
	}
	old, new := lines(p.Old), lines(p.New)
	name := p.Path
	if p.Target != p.Path {
		name += " (" + p.Target + ")"
	}
	after := name
	if p.Deletes {
		after = "(removed)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, after)
	ops := diffLines(old, new)
	shown := -1
	for i, op := range ops {
		if op.kind == ' ' && !near(ops, i) {
			continue
		}
		if i > shown+1 || i == 0 {
			fmt.Fprintf(&b, "@@ line %d @@\n", op.line)
		}
		shown = i
		fmt.Fprintf(&b, "%c%s\n", op.kind, op.text)
	}
	return b.String()
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	list := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], "\r")
	}
	return list
}

// op is one line of a difference; line counts in the old text, from 1.
type op struct {
	kind byte
	line int
	text string
}

func near(ops []op, i int) bool {
	for j := max(0, i-2); j <= min(len(ops)-1, i+2); j++ {
		if ops[j].kind != ' ' {
			return true
		}
	}
	return false
}

// diffLines compares by the longest common subsequence of what is left when
// equal beginnings and ends are put aside. Of very long middles, which settings
// do not have, all lines count as changed.
func diffLines(old, new []string) (ops []op) {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		ops = append(ops, op{' ', head + 1, old[head]})
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	a, b := old[head:len(old)-tail], new[head:len(new)-tail]
	same := common(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			ops = append(ops, op{' ', head + i + 1, a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same != nil && same[i+1][j] >= same[i][j+1]:
			ops = append(ops, op{'-', head + i + 1, a[i]})
			i++
		default:
			ops = append(ops, op{'+', head + i + 1, b[j]})
			j++
		}
	}
	for i := len(old) - tail; i < len(old); i++ {
		ops = append(ops, op{' ', i + 1, old[i]})
	}
	return ops
}

// common returns the table of the longest common subsequences of the ends of a
// and b; nil if it would be too large.
func common(a, b []string) [][]int {
	if len(a)*len(b) > 4_000_000 {
		return nil
	}
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
}
