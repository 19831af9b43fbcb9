package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The limits of a document in a reply. Ours have a depth of 5 and some hundred
// values; a document beyond these limits is not an answer to our question.
const (
	maxDepth  = 32
	maxValues = 10_000
)

// Decode reads the reply's one JSON object into v; the object must have a
// member named key, so that an error object or a tool call is never taken for
// an empty answer. Unknown members are ignored: they have no effect. If there
// is no such object the error says what the reply is instead: a limit, a
// refusal, a missing login, or not the asked JSON.
func Decode(text, key string, v any) error {
	raw, err := JSON(text)
	if err != nil {
		if t := trouble(text, false); t != nil {
			return t
		}
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return notJSON("an array where an object was asked for")
	}
	if _, ok := members[key]; !ok {
		if t := trouble(text, false); t != nil {
			return t
		}
		return notJSON(fmt.Sprintf("the object has no member %q: %s", key, raw))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return notJSON(err.Error())
	}
	return nil
}

// JSON returns the one JSON object or array in a reply. Around it a byte order
// mark, a reasoning block (<think>…</think>), a code fence and prose are
// tolerated, brackets in the prose too. Not tolerated, because a part of an
// answer could be taken for the whole: a document that is cut off or otherwise
// not JSON, a second document, a member name twice in one object, more than 32
// levels or 10,000 values, invalid UTF-8. The error wraps ErrNotJSON, or
// ErrTooLarge.
func JSON(text string) (json.RawMessage, error) {
	if len(text) > MaxReply {
		return nil, &Error{Kind: ErrTooLarge, Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", len(text), MaxReply)}
	}
	if !utf8.ValidString(text) {
		return nil, notJSON("the reply is not UTF-8")
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if rest, ok := strings.CutPrefix(text, "<think>"); ok {
		if _, after, closed := strings.Cut(rest, "</think>"); closed {
			text = after
		}
	}
	var found json.RawMessage
	for i := 0; i < len(text); {
		if !opens(text[i:]) {
			i++
			continue
		}
		doc, err := document(text[i:])
		if err != nil {
			return nil, err
		}
		if found != nil {
			return nil, notJSON("there is more than one JSON document")
		}
		found = doc
		i += len(doc)
	}
	if found == nil {
		if text == "" {
			return nil, notJSON("the reply is empty")
		}
		return nil, notJSON(text)
	}
	return found, nil
}

// opens reports whether s starts with what can only be meant as a document: an
// object, also one with single or no quotes, which then fails as a whole instead
// of giving away its inner part; an array of objects or of strings. "[1]", "[]"
// and "{name}" are taken for prose.
func opens(s string) bool {
	switch s[0] {
	case '{':
		return object.MatchString(s[:min(len(s), 1000)])
	case '[':
		rest := strings.TrimLeft(s[1:min(len(s), 1000)], " \t\r\n")
		switch {
		case rest == "":
			return false
		case rest[0] == '"':
			return true
		case rest[0] == '{':
			return opens(rest)
		}
	}
	return false
}

var object = regexp.MustCompile(`^\{\s*(?:["'}]|[\pL_][\pL\d_]{0,60}\s*:)`)

// document returns the JSON document that s starts with.
func document(s string) (json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	type level struct {
		names map[string]bool // of an object; nil for an array
		value bool            // a value comes next, not a name
	}
	var stack []level
	for values := 0; ; values++ {
		tok, err := dec.Token()
		if err != nil {
			return nil, notJSON(fmt.Sprintf("broken or cut off after %d bytes: %s", dec.InputOffset(), s))
		}
		if values > 2*maxValues {
			return nil, notJSON("there are too many values in it")
		}
		delim, bracket := tok.(json.Delim)
		if bracket && (delim == '}' || delim == ']') {
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				doc := s[:dec.InputOffset()]
				if !json.Valid([]byte(doc)) {
					return nil, notJSON("broken: " + doc)
				}
				return json.RawMessage(doc), nil
			}
			continue
		}
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.names != nil && !top.value {
				name, _ := tok.(string)
				if top.names[name] {
					return nil, notJSON(fmt.Sprintf("the member %q stands twice in one object", name))
				}
				top.names[name], top.value = true, true
				continue
			}
			top.value = false
		}
		if !bracket {
			continue
		}
		if len(stack) == maxDepth {
			return nil, notJSON("it is nested too deeply")
		}
		next := level{}
		if delim == '{' {
			next.names = map[string]bool{}
		}
		stack = append(stack, next)
	}
}

func notJSON(detail string) error { return &Error{Kind: ErrNotJSON, Detail: Short(detail)} }
