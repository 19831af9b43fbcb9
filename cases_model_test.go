//go:build unix

package stillso_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"stillso"
)

// modelJob tells the stub what to answer. It stands in job.json.
type modelJob struct {
	Stub     []stubEntry
	RawReply string            // a file that is returned as it is
	Rows     map[string]string // the text of the transcript's rows by uuid
	Verdicts json.RawMessage   // of a tidy pass
	Script   string            // the case's own model command, and its environment
	Env      map[string]string
}

// stubEntry is one entry of a stub.json: if the words occur in what the model is
// asked, it proposes the memory.
type stubEntry struct {
	IfContains string `json:"if_contains"`
	Type       string `json:"type"`
	Text       string `json:"text"`
	Evidence   any    `json:"evidence"`
	Scope      string `json:"scope"`
	RawReply   string `json:"raw_reply"`
}

func readJob(dir string) (modelJob, error) {
	var job modelJob
	text, err := os.ReadFile(filepath.Join(dir, "job.json"))
	if err == nil {
		err = json.Unmarshal(text, &job)
	}
	return job, err
}

// record keeps a request, and returns it.
func record(dir string) (string, error) {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%020d-%d.txt", time.Now().UnixNano(), os.Getpid())
	return string(in), os.WriteFile(filepath.Join(dir, "requests", name), in, 0o600)
}

// answer reads a request and prints the stub's reply in the product's format.
func answer(dir string, keep bool) error {
	job, err := readJob(dir)
	if err != nil {
		return err
	}
	var in string
	if keep {
		in, err = record(dir)
	} else {
		var b []byte
		b, err = io.ReadAll(os.Stdin)
		in = string(b)
	}
	if err != nil {
		return err
	}
	out, err := reply(job, in, os.Getenv("STILLSO_PURPOSE"))
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(out)
	return err
}

// runModelCommand runs the case's own model command, with the request recorded.
func runModelCommand(dir string) error {
	job, err := readJob(dir)
	if err != nil {
		return err
	}
	in, err := record(dir)
	if err != nil {
		return err
	}
	name, args := "sh", []string{job.Script}
	if info, err := os.Stat(job.Script); err == nil && info.Mode().Perm()&0o100 != 0 {
		name, args = job.Script, nil
	} else if strings.HasSuffix(job.Script, ".py") {
		name = "python3"
	}
	cmd := exec.Command(name, args...)
	cmd.Env = os.Environ()
	for k, v := range job.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), os.Stdout, os.Stderr
	return cmd.Run()
}

// reply renders what the stub answers to a request of the given purpose.
func reply(job modelJob, in, purpose string) (string, error) {
	raw := job.RawReply
	for _, e := range job.Stub {
		if e.RawReply != "" && strings.Contains(in, e.IfContains) {
			raw = e.RawReply
		}
	}
	if raw != "" {
		b, err := os.ReadFile(raw)
		return string(b), err
	}
	switch {
	case purpose == "judge" || purpose == "" && strings.Contains(in, `"verdicts"`) && !strings.Contains(in, `{"candidates": []}`):
		return string(encode(map[string]any{"verdicts": highestMarks(in)})), nil
	case purpose == "enrich":
		return `{"aliases": []}`, nil
	case purpose == "tidy":
		return string(encode(map[string]any{"verdicts": job.Verdicts})), nil
	}
	return string(encode(map[string]any{"candidates": proposals(job, in), "findings": []any{}, "updates": []any{}})), nil
}

// proposals are the entries of the stub whose words occur in the request's data.
func proposals(job modelJob, in string) []map[string]any {
	data := dataOf(in) // words of our own instructions do not count
	turns := windowTurns(in)
	list := []map[string]any{}
	for _, e := range job.Stub {
		if !strings.Contains(data, e.IfContains) {
			continue
		}
		kind, err := stillso.ParseType(e.Type)
		if err != nil {
			kind = stillso.Fact
		}
		namespace := "project"
		if e.Scope == "user" {
			namespace = "user"
		}
		list = append(list, map[string]any{
			"name": stubName(e.Text), "type": kind, "content": e.Text, "why": "", "namespace": namespace, "related_files": []string{},
			"priority": 3, "confirmed": true, "evidence": evidence(e, job.Rows, turns),
		})
	}
	return list
}

// evidence quotes the rows that the entry names: the turn of the window that
// holds most of the row's words, and a quote that stands there to the letter.
func evidence(e stubEntry, rows map[string]string, turns []windowTurn) []map[string]any {
	out := []map[string]any{}
	ids, _ := e.Evidence.([]any)
	if id, ok := e.Evidence.(string); ok {
		ids = []any{id}
	}
	for _, id := range ids {
		text := rows[fmt.Sprint(id)]
		best, quote := -1, text
		for i, t := range turns {
			for _, part := range append([]string{text}, regexp.MustCompile(`[^.!?。！？\n]+[.!?。！？]?`).FindAllString(text, -1)...) {
				part = strings.TrimSpace(part)
				if part != "" && strings.Contains(t.text, part) && (best < 0 || len(part) > len(quote) || quote == text && !strings.Contains(turns[best].text, quote)) {
					best, quote = i, part
				}
			}
		}
		n := 1
		if best >= 0 {
			n = turns[best].number
		}
		out = append(out, map[string]any{"turn": n, "quote": quote})
	}
	return out
}

// stubName makes a name of letters and hyphens.
func stubName(text string) string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(w) > 2 && len(out) < 4 {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return "stub-proposal"
	}
	return strings.Join(out, "-")
}

// windowTurn is one turn of the conversation as the model is shown it.
type windowTurn struct {
	number int
	typed  bool
	text   string
}

const turnHead = `(?im)^\W{0,4}(?:turn\s*)?(\d+)\W{1,4}(developer|user|assistant|tool|other)\b[^\n:>\]]*[:>\]]+[ \t]*\n?`

// dataOf returns what stands between the two fences of a request.
func dataOf(in string) string {
	fences := regexp.MustCompile(`(?m)^===== data [0-9a-f]+ =====\n`).FindAllStringIndex(in, -1)
	if len(fences) < 2 {
		return in
	}
	return in[fences[0][1]:fences[len(fences)-1][0]]
}

// windowTurns reads the turns out of a request.
func windowTurns(in string) []windowTurn {
	in = dataOf(in)
	marks := regexp.MustCompile(turnHead).FindAllStringSubmatchIndex(in, -1)
	var out []windowTurn
	for i, m := range marks {
		end := len(in)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		var n int
		_, _ = fmt.Sscan(in[m[2]:m[3]], &n)
		who := strings.ToLower(in[m[4]:m[5]])
		out = append(out, windowTurn{n, who == "developer" || who == "user", strings.TrimSpace(in[m[1]:end])})
	}
	return out
}

const candidateHead = `(?im)^\W{0,4}(?:candidate|proposal)?\s*#?(\d+)\b[.:)\]]`

// highestMarks admits every numbered candidate of a judge's request.
func highestMarks(in string) []map[string]any {
	in = dataOf(in)
	if i := strings.LastIndex(in, "\nThe proposals:\n"); i >= 0 {
		in = in[i:]
	}
	out := []map[string]any{}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(candidateHead).FindAllStringSubmatch(in, -1) {
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		out = append(out, map[string]any{"candidate": json.Number(m[1]), "step": 3, "reason": "the developer asked for it", "score": 5, "relation": "new", "of": nil})
	}
	return out
}

// holdLock takes the write lock of a store, says so, and keeps it for a while.
func holdLock(path string, d time.Duration) error {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the process ends
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the process ends
	if _, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("locked\n"); err != nil {
		return err
	}
	time.Sleep(d)
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	return err
}
