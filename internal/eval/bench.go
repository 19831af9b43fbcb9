package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BenchFigures are the result of a public benchmark of search. Each metric has its
// exact name: R@k is the mean over the questions of the share of the right
// documents that are among the first k; any@k is the share of the questions with a
// right document among the first k; MRR is the mean of 1/rank of the first right
// one among the first ten.
type BenchFigures struct {
	Name      string             `json:"name"`
	Documents int                `json:"documents"`
	Questions int                `json:"questions"`
	Metrics   map[string]float64 `json:"metrics"`

	sums map[string]float64
}

// Benches lists the names that Bench knows.
func Benches() []string { return []string{"devmembench", "beam-100k", "cosqa", "cmrc2018", "drcd"} }

// Bench runs one benchmark on its data in dir.
func Bench(ctx context.Context, name, dir string) (BenchFigures, error) {
	f := BenchFigures{Name: name, Metrics: map[string]float64{}, sums: map[string]float64{}}
	var err error
	switch name {
	case "devmembench":
		err = f.devmembench(dir)
	case "beam-100k":
		err = f.beam(ctx, dir)
	case "cosqa":
		err = f.cosqa(ctx, dir)
	case "cmrc2018", "drcd":
		err = f.passages(ctx, dir)
	default:
		return f, fmt.Errorf("unknown benchmark %q: use one of %s", name, strings.Join(Benches(), ", "))
	}
	for m, s := range f.sums {
		f.Metrics[m] = 100 * s / float64(max(1, f.Questions))
	}
	return f, err
}

// benchDepths are the k of R@k and any@k.
var benchDepths = [...]int{1, 2, 5}

// score adds the ranking of one question; right are the indexes of the answers.
func (f *BenchFigures) score(ranked []int, right []int) {
	f.Questions++
	for _, k := range benchDepths {
		hit := 0
		for _, d := range ranked[:min(k, len(ranked))] {
			if slices.Contains(right, d) {
				hit++
			}
		}
		f.sums[fmt.Sprintf("R@%d", k)] += float64(hit) / float64(len(right))
		if hit > 0 {
			f.sums[fmt.Sprintf("any@%d", k)]++
		}
	}
	for i, d := range ranked[:min(10, len(ranked))] {
		if slices.Contains(right, d) {
			f.sums["MRR"] += 1 / float64(i+1)
			break
		}
	}
}

func readJSON[T any](path string) (T, error) {
	var v T
	b, err := os.ReadFile(path) // #nosec G304 -- a file that the user named
	if err != nil {
		return v, fmt.Errorf("cannot read the benchmark: %w", err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("%s is not what it should be: %w", path, err)
	}
	return v, nil
}

type benchMessage struct {
	ID      int    `json:"id"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Anchor  string `json:"time_anchor"`
}

// devmembench: 25 sessions are the documents. A session is scored as a whole and
// by its best turn; what the user typed counts more than what was answered.
func (f *BenchFigures) devmembench(dir string) error {
	type session struct {
		ID       string `json:"sessionId"`
		Metadata struct {
			Date    string `json:"date"`
			Project string `json:"project"`
		} `json:"metadata"`
		Messages []benchMessage `json:"messages"`
	}
	sessions, err := readJSON[[]session](filepath.Join(dir, "sessions.json"))
	if err != nil {
		return err
	}
	questions, err := readJSON[[]struct {
		Question string   `json:"question"`
		Sessions []string `json:"haystackSessionIds"`
	}](filepath.Join(dir, "questions.json"))
	if err != nil {
		return err
	}
	whole, part := newBM25(3, .5), newBM25(3, .5)
	var owner []int
	for i, s := range sessions {
		fields := []field{{s.Metadata.Project + " " + s.Metadata.Date, sessionTitle}}
		for j, m := range s.Messages {
			w := 1.0
			if m.Role != "user" {
				w = answered
			}
			fields = append(fields, field{m.Content, w})
			turn := []field{{s.Metadata.Project, sessionTitle}, {m.Content, w}}
			if m.Role == "user" && j+1 < len(s.Messages) {
				turn = append(turn, field{s.Messages[j+1].Content, answered})
			}
			part.add(turn...)
			owner = append(owner, i)
		}
		whole.add(fields...)
	}
	f.Documents = len(sessions)
	for _, q := range questions {
		if len(q.Sessions) == 0 {
			continue // nothing to find
		}
		var right []int
		for i, s := range sessions {
			if slices.Contains(q.Sessions, s.ID) {
				right = append(right, i)
			}
		}
		f.score(best(joined(whole.scores(q.Question), part.scores(q.Question), owner), 10), right)
	}
	return nil
}

// The weights of a session's fields against what the user typed: the project it
// belongs to, and what the assistant answered. Around these values the result is
// flat.
const (
	sessionTitle = 4
	answered     = .4
)

// joined adds to the score of each parent half that of its best part.
func joined(parents, parts []float64, owner []int) []float64 {
	top := make([]float64, len(parents))
	for i, s := range parts {
		top[owner[i]] = max(top[owner[i]], s)
	}
	out := slices.Clone(parents)
	for i := range out {
		out[i] += top[i] / 2
	}
	return out
}

// beamKinds are the factual kinds of questions: those whose answer stands in a
// message.
var beamKinds = [...]string{"information_extraction", "multi_session_reasoning", "temporal_reasoning", "knowledge_update", "contradiction_resolution"}

// beam: the user's messages of one conversation are the documents.
func (f *BenchFigures) beam(ctx context.Context, dir string) error {
	list, err := filepath.Glob(filepath.Join(dir, "*.messages.jsonl"))
	if err != nil || len(list) == 0 {
		return fmt.Errorf("no *.messages.jsonl in %s", dir)
	}
	for _, file := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.conversation(file); err != nil {
			return err
		}
	}
	return nil
}

func (f *BenchFigures) conversation(file string) error {
	messages, err := readLines[benchMessage](file)
	if err != nil {
		return err
	}
	index := newBM25(1.2, .4)
	at := map[int]int{}
	for i, m := range messages {
		if m.Role != "user" {
			continue
		}
		at[m.ID] = len(index.length)
		text, _, _ := strings.Cut(m.Content, "->->")
		fields := []field{{text, 1}, {m.Anchor, .5}}
		if i+1 < len(messages) && messages[i+1].Role != "user" {
			answer := messages[i+1].Content
			fields = append(fields, field{answer[:min(len(answer), 600)], .1})
		}
		index.add(fields...)
	}
	f.Documents += len(index.length)
	questions, err := readJSON[struct {
		Kinds map[string][]struct {
			Question string          `json:"question"`
			Sources  json.RawMessage `json:"source_chat_ids"`
		} `json:"probing_questions"`
	}](strings.TrimSuffix(file, ".messages.jsonl") + ".questions.json")
	if err != nil {
		return err
	}
	for _, kind := range beamKinds {
		for _, q := range questions.Kinds[kind] {
			var right []int
			for _, id := range numbers(q.Sources) {
				if d, ok := at[id]; ok {
					right = append(right, d)
				}
			}
			if len(right) > 0 {
				f.score(best(index.scores(q.Question), 10), right)
			}
		}
	}
	return nil
}

// numbers returns all whole numbers of a list, or of an object of lists.
func numbers(raw json.RawMessage) []int {
	var list []int
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		for _, v := range object {
			list = append(list, numbers(v)...)
		}
		slices.Sort(list)
	}
	return list
}

// cosqa: functions in Python, asked for in the words of a web search.
func (f *BenchFigures) cosqa(ctx context.Context, dir string) error {
	codes, err := readLines[struct {
		Index int    `json:"idx"`
		Code  string `json:"code"`
	}](filepath.Join(dir, "codes.jsonl"))
	if err != nil {
		return err
	}
	queries, err := readLines[struct {
		Query string `json:"query"`
		Gold  int    `json:"gold"`
	}](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	// The function's name and its description, each with a ranking of its own, are
	// added to that of the whole.
	var fields [3]*bm25
	for i, p := range [...][2]float64{{2, .85}, {1.2, .3}, {1.2, .5}} {
		fields[i] = newBM25(p[0], p[1])
		fields[i].code = true
	}
	at := map[int]int{}
	for i, c := range codes {
		at[c.Index] = i
		_, rest, _ := strings.Cut(c.Code, "def ")
		name, _, _ := strings.Cut(rest, "(")
		for j, text := range [...]string{c.Code, name, docstring(c.Code)} {
			fields[j].add(field{text, 1})
		}
	}
	f.Documents = len(codes)
	for _, q := range queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		all := fields[0].scores(q.Query)
		for _, x := range fields[1:] {
			for i, s := range x.scores(q.Query) {
				all[i] += .3 * s
			}
		}
		f.score(best(all, 10), []int{at[q.Gold]})
	}
	return nil
}

// docstring returns the first quoted text of a function.
func docstring(code string) string {
	for _, mark := range []string{`"""`, "'''"} {
		if _, rest, ok := strings.Cut(code, mark); ok {
			text, _, _ := strings.Cut(rest, mark)
			return text
		}
	}
	return ""
}

// passages: the paragraph of an encyclopedia that answers a Chinese question.
func (f *BenchFigures) passages(ctx context.Context, dir string) error {
	docs, err := readLines[struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}](filepath.Join(dir, "docs.jsonl"))
	if err != nil {
		return err
	}
	queries, err := readLines[struct {
		Query string `json:"query"`
		Gold  string `json:"gold"`
	}](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	index := newBM25(1.2, .4)
	at := map[string]int{}
	for i, d := range docs {
		at[d.ID] = i
		index.add(field{d.Title, 2}, field{d.Text, 1})
	}
	f.Documents = len(docs)
	for _, q := range queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.score(best(index.scores(q.Query), 10), []int{at[q.Gold]})
	}
	return nil
}
