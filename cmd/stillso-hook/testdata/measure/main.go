//go:build linux

// Command measure runs programs in turn, with the same file on stdin, and prints one
// line a run: program, microseconds, highest resident memory in KiB. It is a program of
// its own since a child starts with the memory of the parent that forks it.
//
//	measure RUNS EVICT SESSIONS STDIN PROGRAM[ ARG…] PROGRAM…
//
// EVICT is a list of files, separated by commas, that are dropped from the page cache
// before every run; "-" is none. The files in SESSIONS are removed before every run.
package main

import (
	"bufio"
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
	for range runs {
		for i, command := range os.Args[5:] {
			old, _ := os.ReadDir(os.Args[3])
			for _, f := range old {
				check(os.Remove(os.Args[3] + "/" + f.Name()))
			}
			for _, f := range strings.Split(os.Args[2], ",") {
				evict(f)
			}
			in, err := os.Open(os.Args[4])
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
