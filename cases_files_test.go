//go:build unix

package stillso_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// doPut writes a file of the case, or adds it or a text to the end of one.
func (r *caseRun) doPut(s *stepWords) *outcome {
	to := s.str("to")
	if to == "" {
		to = s.str("path")
	}
	text := []byte(s.str("text"))
	var err error
	if s.has("file") {
		if text, err = os.ReadFile(r.in(s.str("file"))); err != nil {
			r.t.Error(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		r.t.Error(err)
	}
	flag := os.O_APPEND
	if s.str("do") == "put" {
		flag = os.O_TRUNC
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err != nil {
		r.t.Error(err)
		return &outcome{exit: 1}
	}
	defer f.Close() //nolint:errcheck // a test that fails anyway says more
	if _, err := f.Write(text); err != nil {
		r.t.Error(err)
	}
	return &outcome{path: to}
}

func (r *caseRun) doRead(s *stepWords) *outcome {
	text, err := os.ReadFile(r.in(s.str("path")))
	o := &outcome{text: string(text), path: s.str("path")}
	if err != nil {
		o.exit, o.stderr = 1, err.Error()
	}
	return o
}

// doTree takes a fingerprint of every file below a directory, .git included.
func (r *caseRun) doTree(s *stepWords) *outcome {
	dir := s.str("dir")
	o := &outcome{tree: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			o.tree[rel] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			o.tree[rel] = "link to " + to
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(b)
			o.tree[rel] = hex.EncodeToString(sum[:])
		default:
			o.tree[rel] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	return o
}

// doParallel runs groups of processes at the same time. {P} is the number of the
// process in its group, {I} that of the repetition, both from 0.
func (r *caseRun) doParallel(s *stepWords) *outcome {
	var groups []struct {
		Procs, Repeat int
		Step          json.RawMessage
	}
	if err := json.Unmarshal(s.m["groups"], &groups); err != nil {
		r.t.Errorf("groups: %v", err)
	}
	s.used["groups"] = true
	all := &outcome{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for g, group := range groups {
		for p := range group.Procs {
			wg.Go(func() {
				for i := range max(1, group.Repeat) {
					text := strings.NewReplacer("{P}", strconv.Itoa(p), "{I}", strconv.Itoa(i)).Replace(string(group.Step))
					var m map[string]json.RawMessage
					if err := json.Unmarshal([]byte(text), &m); err != nil {
						r.t.Errorf("step %s: %v", text, err)
						return
					}
					w := words(m)
					var o *outcome
					if w.str("do") == "recall" && !w.has("session") {
						o = r.prompt(w, fmt.Sprintf("p%d-%d-%d", g, p, i), w.str("prompt"))
					} else {
						o = r.step(w)
					}
					mu.Lock()
					all.exits = append(all.exits, o.exit)
					all.ids = append(all.ids, o.saved)
					all.exit = max(all.exit, o.exit)
					if o.exit != 0 || w.str("do") == "recall" {
						all.stderr += o.stderr
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	all.ms = time.Since(start).Milliseconds()
	return all
}

func (r *caseRun) doEnv(s *stepWords) *outcome {
	for k, v := range s.object("set") {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		r.env[k] = text
	}
	for _, k := range s.list("unset") {
		delete(r.env, k)
	}
	return &outcome{}
}

// doProcesses lists what the product left running; what is about to end may.
func (r *caseRun) doProcesses(*stepWords) *outcome {
	r.waitChildren(5 * time.Second)
	n := len(r.children())
	return &outcome{number: &n}
}

func (r *caseRun) doNoteFile(s *stepWords) *outcome {
	o := r.cli(s.str("store"), append([]string{"show", "--note"}, r.idsOf(s)...)...)
	return o
}
