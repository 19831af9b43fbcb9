package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stillso"
)

// child is the test binary as another process: it does job on the store in
// STILLSO_TEST_DIR and writes a line for everything that was acknowledged.
func child(job string) int {
	dir, name := os.Getenv("STILLSO_TEST_DIR"), os.Getenv("STILLSO_TEST_NAME")
	if err := childJob(job, dir, name); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return 0
}

func childJob(job, dir, name string) (err error) {
	ctx := context.Background()
	s, err := Open(ctx, dir, Options{BusyTimeout: 30 * time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	switch job {
	case "open":
		_, err = s.Apply(ctx, adding(memory(name, "from "+name)))
		return err
	case "share":
		return childShare(ctx, s, name)
	}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for i := 0; ; i++ {
		if err := childWrite(ctx, s, job, fmt.Sprintf("%s-%d", name, i), rng); err != nil {
			return err
		}
	}
}

// childShare writes and reads, for as many rounds as 20 processes can do in a
// few seconds.
func childShare(ctx context.Context, s *Store, name string) error {
	for i := range 10 {
		id := fmt.Sprintf("%s-%d", name, i)
		if _, err := s.Apply(ctx, adding(memory(id, "shared statement "+id))); err != nil {
			return err
		}
		fmt.Println("add", id)
		if _, err := s.Search(ctx, stillso.TextQuery{Text: "shared statement"}); err != nil {
			return err
		}
		if _, err := s.Record(ctx, stillso.Session{ID: name}, []stillso.Turn{{ID: id, Speaker: stillso.Typed, Text: "hello"}}); err != nil {
			return err
		}
		if err := s.AddReceipts(ctx, []stillso.Receipt{{V: 1, At: noon, Event: id}}); err != nil {
			return err
		}
		if _, err := s.Memory(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// childWrite does one thing that changes the store and says so.
func childWrite(ctx context.Context, s *Store, job, id string, rng *rand.Rand) error {
	m := memory(id, "statement "+strings.Repeat(id+" ", 1+rng.IntN(50)))
	if rng.IntN(10) == 0 {
		m.Body = strings.Repeat("long text ", rng.IntN(10000))
	}
	if _, err := s.Apply(ctx, adding(m)); err != nil {
		return err
	}
	fmt.Println("add", id)
	switch rng.IntN(4) {
	case 0:
		if _, err := s.Undo(ctx, "add-"+id, human, noon); err != nil {
			return err
		}
		fmt.Println("undo", id)
	case 1:
		if job != "purge" {
			return nil
		}
		if _, err := s.Purge(ctx, id, human, noon); err != nil {
			return err
		}
		fmt.Println("purge", id)
	}
	return nil
}

// start runs the test binary with a job.
func start(t testing.TB, job, dir, name string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "STILLSO_TEST_CHILD="+job, "STILLSO_TEST_DIR="+dir, "STILLSO_TEST_NAME="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// rounds is how much of a long test is done: env if it is set, all of it in CI,
// a quarter elsewhere, and a tenth with -short.
func rounds(env string, all int) int {
	n, err := strconv.Atoi(os.Getenv(env))
	switch {
	case err == nil:
		return n
	case testing.Short():
		return all / 10
	case os.Getenv("CI") == "true":
		return all
	}
	return all / 4
}

// A change that was acknowledged and is gone after a crash; a store that does
// not open after one, or whose parts no longer fit together.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	rng := rand.New(rand.NewPCG(3, 4))
	state := map[string]string{} // what was acknowledged last of a memory
	acknowledged := 0
	kills := rounds("STILLSO_CRASHES", 100)
	for round := range kills {
		job := "write"
		if round%5 == 4 {
			job = "purge"
		}
		cmd, out := start(t, job, dir, "r"+strconv.Itoa(round))
		first := make(chan bool, 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				verb, id, _ := strings.Cut(lines.Text(), " ")
				state[id] = verb
				acknowledged++
				select {
				case first <- true:
				default:
				}
			}
			close(first)
		})
		// Most are killed at work, some while they open the store.
		if rng.IntN(5) > 0 {
			<-first
		}
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		_ = cmd.Wait() // it was killed
		if round%20 == 19 || round == kills-1 {
			checkState(t, dir, state)
			clean(t, dir)
		}
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	t.Logf("%d kills, %d changes acknowledged, none lost", kills, acknowledged)
}

// A store whose creation was cut short and that nobody can open or finish.
func TestKillAtCreation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range rounds("STILLSO_CRASHES", 100) / 5 {
		dir := filepath.Join(t.TempDir(), "home")
		cmd, out := start(t, "open", dir, "first")
		// From the start of the process to the creation it takes some milliseconds.
		time.Sleep(time.Duration(3_000+rng.IntN(30_000)) * time.Microsecond)
		_ = cmd.Process.Kill() // it may have ended
		_, _ = io.ReadAll(out)
		_ = cmd.Wait()
		s := openTest(t, dir)
		apply(t, s, adding(memory("second", "after the crash")))
		closeTest(t, s)
		clean(t, dir)
	}
}

func checkState(t *testing.T, dir string, state map[string]string) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("Open after a crash: %v", err)
	}
	defer closeTest(t, s)
	journal, err := s.Journal(t.Context(), stillso.JournalFilter{})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range journal {
		known[c.ID] = true
	}
	for id, verb := range state {
		if !known["add-"+id] {
			t.Errorf("the change that added %s was acknowledged and is gone", id)
		}
		// One more change may have been written than was acknowledged.
		if _, err := s.Memory(t.Context(), id); err == nil && verb != "add" {
			t.Errorf("memory %s is back after its %s was acknowledged", id, verb)
		}
	}
}

// Processes that write at once and lose each other's changes, or fail because
// another one is writing.
func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	const processes = 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for i := range processes {
		cmd, out := start(t, "share", dir, "p"+strconv.Itoa(i))
		wg.Go(func() {
			b, err := io.ReadAll(out)
			if err = errors.Join(err, cmd.Wait()); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			told += strings.Count(string(b), "add ")
		})
	}
	wg.Wait()
	clean(t, dir)
	s := openTest(t, dir)
	memories, err := s.Memories(t.Context(), stillso.Filter{})
	if err != nil || len(memories) != processes*10 || told != processes*10 {
		t.Errorf("%d memories, %d acknowledged, %v; want %d", len(memories), told, err, processes*10)
	}
	receipts, err := s.Receipts(t.Context(), time.Time{}, 0)
	if err != nil || len(receipts) != processes*10 {
		t.Errorf("%d receipts, %v; want %d", len(receipts), err, processes*10)
	}
}

// Processes that create the same store at the same moment, and one wins over
// the other's first memory.
func TestFirstCreation(t *testing.T) {
	for range 3 {
		dir := filepath.Join(t.TempDir(), "deep", "home")
		const processes = 8
		var wg sync.WaitGroup
		for i := range processes {
			cmd, _ := start(t, "open", dir, "p"+strconv.Itoa(i))
			wg.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		clean(t, dir)
		s := openTest(t, dir)
		if list, err := s.Memories(t.Context(), stillso.Filter{}); err != nil || len(list) != processes {
			t.Errorf("%d memories, %v; want %d", len(list), err, processes)
		}
	}
}

// A full disk that leaves half a change, or a store that does not open again.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	mountSmall(t, dir, 3000)
	home := filepath.Join(dir, "home")
	s, err := Open(t.Context(), home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]bool{}
	var full error
	for i := 0; full == nil && i < 10000; i++ {
		m := memory(fmt.Sprintf("m%d", i), "statement "+strings.Repeat("filling the disk ", 100))
		if _, full = s.Apply(t.Context(), adding(m)); full == nil {
			saved[m.ID] = true
		}
	}
	if full == nil || len(saved) < 10 {
		t.Fatalf("%d memories, then %v; want an error after some", len(saved), full)
	}
	t.Logf("%d memories, then: %v", len(saved), full)
	for id := range saved {
		if _, err := s.Memory(t.Context(), id); err != nil {
			t.Errorf("while the disk is full: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Logf("Close on a full disk: %v", err)
	}
	r, err := Open(t.Context(), home, Options{ReadOnly: true})
	if err != nil {
		t.Errorf("reading on a full disk: %v", err)
	} else {
		closeTest(t, r)
	}
	mountLarger(t, dir, 30000)
	clean(t, home)
	s = openTest(t, home)
	list, err := s.Memories(t.Context(), stillso.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		delete(saved, m.ID)
	}
	if len(saved) > 0 {
		t.Errorf("%d memories that were acknowledged are gone", len(saved))
	}
	apply(t, s, adding(memory("after", "there is room again")))
}
