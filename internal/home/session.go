package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Session is what hooks remember of a conversation.
type Session struct {
	// Shown are the ids of the memories that were injected.
	Shown []string
	// Terms are those of the last prompt that had a topic.
	Terms []string
	// Files are the last ones that a tool was about to read or change, latest last.
	Files []string
}

// Sessions share files: appending to one takes a microsecond, making a new one 400 on
// an ordinary disk. A file holds the lines of one 64th of all sessions in one month, so
// that it stays small and is over one day. A line is the session's hash, a mark, and
// the rest.
const (
	shownMark  = " " // an id
	termsMark  = "~" // terms, separated by spaces
	fileMark   = "@" // a path
	forgetMark = "!" // what stands above is over
)

const (
	// maxSession is how much of the end of a file is read: thousands of ids.
	maxSession = 128 << 10
	// maxFiles is how many files a session remembers.
	maxFiles = 8
)

// keySize is the length of a key.
const keySize = 16

// key names a session in its file: the session's own id is data from outside.
func key(session string) string {
	h := uint64(14695981039346656037)
	for i := 0; i < len(session); i++ {
		h = (h ^ uint64(session[i])) * 1099511628211
	}
	h ^= h >> 32
	const hex = "0123456789abcdef"
	var name [keySize]byte
	for i := range name {
		name[i] = hex[h>>(60-4*i)&15]
	}
	return string(name[:])
}

// week is the length of a file's time, in seconds.
const week = 7 * 24 * 3600

// sessionFile is where a session is remembered in a week, counted from 1970.
func (d Dir) sessionFile(key string, weeks int64) string {
	name := strconv.AppendInt(make([]byte, 0, 16), weeks, 10)
	name = append(name, '-', key[0], key[1])
	return filepath.Join(d.Spool(), "sessions", string(name))
}

// Session reads what was remembered of a session since the last Forget, in this week
// and the one before.
func (d Dir) Session(session string, now time.Time) (Session, error) {
	var s Session
	if session == "" {
		return s, nil
	}
	k := key(session)
	weeks := now.Unix() / week
	var errs error
	for w := weeks - 1; w <= weeks; w++ {
		data, err := readEnd(d.sessionFile(k, w), maxSession)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		errs = errors.Join(errs, err)
		s.read(k, data)
	}
	s.Files = s.Files[max(0, len(s.Files)-maxFiles):]
	return s, errs
}

// Last reads only what was remembered of a session just now, by any process.
func (d Dir) Last(session string, now time.Time) (Session, error) {
	var s Session
	if session == "" {
		return s, nil
	}
	k := key(session)
	data, err := readEnd(d.sessionFile(k, now.Unix()/week), MaxLine)
	s.read(k, data)
	return s, err
}

// read takes the lines of one session.
func (s *Session) read(key string, data []byte) {
	for line := range strings.SplitSeq(string(data), "\n") {
		rest, ok := strings.CutPrefix(line, key)
		if !ok || rest == "" {
			continue
		}
		switch mark, rest := rest[:1], rest[1:]; mark {
		case shownMark:
			s.Shown = append(s.Shown, rest)
		case termsMark:
			s.Terms = strings.Fields(rest)
		case fileMark:
			s.Files = append(s.Files, rest)
		case forgetMark:
			*s = Session{}
		}
	}
}

// Remember adds to what is remembered of a session, with one write. What holds a line
// end, and nothing at all of a session without an id, is not remembered.
func (d Dir) Remember(session string, s Session, now time.Time) error {
	k := key(session)
	var b strings.Builder
	add := func(mark, text string) {
		if text != "" && strings.IndexByte(text, '\n') < 0 && b.Len()+len(k)+len(text)+2 <= MaxLine {
			b.WriteString(k)
			b.WriteString(mark)
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	for _, id := range s.Shown {
		add(shownMark, id)
	}
	add(termsMark, strings.Join(s.Terms, " "))
	for _, f := range s.Files {
		add(fileMark, f)
	}
	if session == "" || b.Len() == 0 {
		return nil
	}
	return d.append(d.sessionFile(k, now.Unix()/week), []byte(b.String()))
}

// Forget starts a session anew: its context was compacted or cleared.
func (d Dir) Forget(session string, now time.Time) error {
	s, err := d.Session(session, now)
	if err != nil || len(s.Shown)+len(s.Terms)+len(s.Files) == 0 {
		return err
	}
	k := key(session)
	return d.append(d.sessionFile(k, now.Unix()/week), []byte(k+forgetMark+"\n"))
}

// ForgetTerms takes the terms of prompts out of all that is remembered of sessions:
// they may be those of a text that has to be erased. What a hook appends meanwhile may
// be lost; then something is shown twice.
func (d Dir) ForgetTerms() error {
	dir := filepath.Join(d.Spool(), "sessions")
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		if e.Type().IsRegular() {
			err = errors.Join(err, forgetTerms(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func forgetTerms(path string) error {
	data, err := os.ReadFile(path) // #nosec G304 -- the path is one of ours
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.SplitAfterSeq(string(data), "\n") {
		if len(line) <= keySize || line[keySize:keySize+1] != termsMark {
			kept.WriteString(line)
		}
	}
	if kept.Len() == len(data) {
		return nil
	}
	f, err := OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(kept.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
