package settings

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// AddKey returns TOML in which the table has the key with a value (a TOML literal),
// and whether it was added: a key that is there already stays as it is. All else
// stays, byte for byte. Text that is not TOML is refused, and so is one in which the
// table is written in a way that no line can be added to.
func AddKey(text []byte, name, key, value string) ([]byte, bool, error) {
	before, err := decode(text)
	if err != nil {
		return nil, false, err
	}
	odd := &SyntaxError{Line: 1, Column: 1, Problem: fmt.Sprintf("%s is written in a way that %s cannot be added to", name, key)}
	inner, is := before[name].(map[string]any)
	if _, there := before[name]; there && !is {
		return nil, false, odd
	}
	if _, there := inner[key]; there {
		return text, false, nil
	}
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	line := key + " = " + value + end
	tables := headers(text)
	var out []byte
	if i := slices.IndexFunc(tables, func(t table) bool { return slices.Equal(t.path, []string{name}) }); i >= 0 {
		head := text[:tables[i].end]
		if !bytes.HasSuffix(head, []byte("\n")) {
			line = end + line
		}
		out = slices.Concat(head, []byte(line), text[tables[i].end:])
	} else {
		below := func(t table) bool { return len(t.path) > 1 && t.path[0] == name }
		if is && !slices.ContainsFunc(tables, below) { // made by dotted keys: a header would define it twice
			return nil, false, odd
		}
		gap := ""
		if len(text) > 0 {
			gap = end
		}
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			gap += end
		}
		out = slices.Concat(text, []byte(gap+"["+name+"]"+end+line))
	}
	// What the file says must be what it said, and the key.
	after, err := decode(out)
	want, bad := decode([]byte(strings.Join([]string{key, value}, " = ")))
	if err != nil || bad != nil {
		return nil, false, odd
	}
	if inner == nil {
		inner = map[string]any{}
		before[name] = inner
	}
	inner[key] = want[key]
	if !reflect.DeepEqual(before, after) {
		return nil, false, odd
	}
	return out, true, nil
}
