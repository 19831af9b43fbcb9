//go:build linux

// Command measure runs programs in turn, with the same file on stdin, and prints one
// line a run: program, microseconds, highest resident memory in KiB. It is a program of
// its own since a child starts with the memory of the parent that forks it.
//
//	measure RUNS EVICT STDIN PROGRAM[ ARG…] PROGRAM…
//
// EVICT is a list of files, separated by commas, that are dropped from the page cache
// before every run; "-" is none. The word SESSION in STDIN is another one in every run,
// so that what is found is always shown.
package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const fadvDontNeed = 4

func main() {
	runs, err := strconv.Atoi(os.Args[1])
	check(err)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	check(err)
	template, err := os.ReadFile(os.Args[3])
	check(err)
	for run := range runs {
		for i, command := range os.Args[4:] {
			for _, f := range strings.Split(os.Args[2], ",") {
				evict(f)
			}
			session := "speed" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(run)
			event := os.Args[3] + ".run"
			check(os.WriteFile(event, bytes.ReplaceAll(template, []byte("SESSION"), []byte(session)), 0o600))
			in, err := os.Open(event)
			check(err)
			args := strings.Split(command, " ")
			start := time.Now()
			p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{in, null, null}, Env: os.Environ()})
			check(err)
			st, err := p.Wait()
			took := time.Since(start)
			check(err)
			if !st.Success() {
				check(syscall.EINVAL)
			}
			in.Close()
			ru := st.SysUsage().(*syscall.Rusage)
			out.WriteString(strconv.Itoa(i) + " " + strconv.FormatInt(took.Microseconds(), 10) + " " + strconv.FormatInt(ru.Maxrss, 10) + "\n")
		}
	}
}

func evict(path string) {
	if path == "-" {
		return
	}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return
	}
	check(err)
	defer f.Close()
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, fadvDontNeed, 0, 0); errno != 0 {
		check(errno)
	}
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
