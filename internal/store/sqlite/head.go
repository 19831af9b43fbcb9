package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"stillso"
)

// head says how far the journal goes, and where its last segment ends.
type head struct {
	instance string
	seq      int64
	hash     [hashSize]byte
	segment  int   // number of the last segment, from 1
	size     int64 // of the last segment, in bytes; 0 before it exists
}

// headJSON is the form of store.head.
type headJSON struct {
	V        int    `json:"v"`
	Instance string `json:"instance"`
	Seq      int64  `json:"seq"`
	Hash     string `json:"hash"`
	Segment  int    `json:"segment"`
	Size     int64  `json:"size"`
}

// readHead reads store.head. It returns nil without an error if there is none,
// or if it is not readable: after a power cut it may be empty, and then the
// segments say the same.
func readHead(path string) (*head, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j headJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	if j.V > 1 {
		return nil, stillso.ErrNewer
	}
	h := &head{instance: j.Instance, seq: j.Seq, segment: j.Segment, size: j.Size}
	if unhex(h.hash[:], j.Hash) != nil || h.segment < 1 {
		return nil, nil
	}
	return h, nil
}

// writeHead replaces store.head. It is not flushed: an old one is still true,
// and a lost one is found again in the segments.
func (s *Store) writeHead(h *head) error {
	b, err := json.Marshal(headJSON{1, h.instance, h.seq, hex.EncodeToString(h.hash[:]), h.segment, h.size})
	if err != nil {
		return err
	}
	return putFile(s.path(headFile), append(b, '\n'))
}

// dbHead returns number and hash of the last change in the database.
func (s *Store) dbHead(ctx context.Context, tx *txn) (seq int64, hash [hashSize]byte, err error) {
	var b []byte
	err = tx.QueryRowContext(ctx, "SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").Scan(&seq, &b)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, s.genesis, nil
	}
	if err == nil && len(b) != hashSize {
		err = damaged("the hash of journal entry %d has %d bytes", seq, len(b))
	}
	copy(hash[:], b)
	return seq, hash, scanned(err)
}

// hashAt returns the hash of change seq.
func (s *Store) hashAt(ctx context.Context, tx *txn, seq int64) (hash [hashSize]byte, err error) {
	if seq == 0 {
		return s.genesis, nil
	}
	var b []byte
	err = tx.QueryRowContext(ctx, "SELECT hash FROM journal WHERE seq = ?", seq).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(b) != hashSize {
		return hash, damaged("journal entry %d is missing", seq)
	}
	copy(hash[:], b)
	return hash, scanned(err)
}

// agree reports an error unless the database holds the change at h. The
// database may be ahead of h, never behind: then it was emptied, replaced by an
// older copy, or has lost its log.
func (s *Store) agree(ctx context.Context, tx *txn, h *head) error {
	if h.instance != s.instance {
		return damaged("%s is the database of another store", dbFile)
	}
	seq, _, err := s.dbHead(ctx, tx)
	if err != nil {
		return err
	}
	if seq < h.seq {
		return damaged("%s holds %d changes, the journal %d: it is an older copy or has lost data", dbFile, seq, h.seq)
	}
	hash, err := s.hashAt(ctx, tx, h.seq)
	if err == nil && hash != h.hash {
		err = damaged("journal entry %d of %s is not the one that was written", h.seq, dbFile)
	}
	return err
}
