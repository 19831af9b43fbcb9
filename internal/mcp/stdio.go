package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers bounds how long the answers to what was asked before the end of the
// input may take.
const lastAnswers = 5 * time.Second

// maxLine bounds one message, in bytes.
const maxLine = 4 << 20

// Stdio returns a transport of lines, for standard input and output. Out is never
// closed. What was asked before in ended is still answered: without that, the end
// of the input cancels the requests before it, and a pipe gets half of its answers.
// A line that is no message is answered with an error, and the next one is read.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	w := &lineWriter{w: out}
	return patient{&sdk.IOTransport{Reader: &lineReader{in: bufio.NewReaderSize(in, 64<<10), errs: w}, Writer: w}}
}

// lineWriter lets two write whole lines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// Close keeps the writer open: it is not ours.
func (*lineWriter) Close() error { return nil }

// lineReader lets through the lines that are messages.
type lineReader struct {
	in   *bufio.Reader
	errs io.Writer
	rest []byte
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if len(bytes.TrimSpace(line)) > 0 {
			if code, problem := fault(line); problem != "" {
				answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, problem)
				if _, werr := io.WriteString(r.errs, answer); werr != nil {
					return 0, werr
				}
			} else {
				r.rest = append(bytes.TrimSpace(line), '\n')
				break
			}
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads a line. Of one that is too long it keeps as much as shows that.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// fault says what keeps a line from being a message, with the code that JSON-RPC
// has for it.
func fault(line []byte) (code int, problem string) {
	switch {
	case len(line) > maxLine:
		return -32600, fmt.Sprintf("the message is longer than %d bytes", maxLine)
	case !json.Valid(line):
		return -32700, "this line is no JSON"
	case bytes.TrimSpace(line)[0] == '[': // only one old version of the protocol has batches
		return -32600, "this is a batch: send one message a line"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return -32600, "this is no JSON-RPC message"
	}
	return 0, ""
}

// Close keeps the reader open: it is not ours.
func (*lineReader) Close() error { return nil }

type patient struct{ sdk.Transport }

func (p patient) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: c, asked: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, nil
}

// patientConn holds the end of the input back until all is answered.
type patientConn struct {
	sdk.Connection
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	asked map[jsonrpc.ID]bool
	// idle is closed when nothing is left to answer; nil before the input ended.
	idle chan struct{}
}

func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.wait(ctx)
		return msg, err
	}
	req, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok || err != nil:
	case req.Method == "notifications/cancelled":
		var which struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(req.Params, &which) == nil {
			if id, err := jsonrpc.MakeID(which.RequestID); err == nil {
				c.answered(id)
			}
		}
	case req.IsCall() && req.Method != "subscriptions/listen": // that one is answered at the end
		c.mu.Lock()
		c.asked[req.ID] = true
		c.mu.Unlock()
	}
	return msg, err
}

func (c *patientConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.answered(r.ID)
	}
	return err
}

// Close is documented in [sdk.Connection].
func (c *patientConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (c *patientConn) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, id)
	if len(c.asked) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

func (c *patientConn) wait(ctx context.Context) {
	c.mu.Lock()
	if len(c.asked) == 0 {
		c.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()
	enough := time.NewTimer(lastAnswers)
	defer enough.Stop()
	select {
	case <-idle:
	case <-c.closed:
	case <-ctx.Done():
	case <-enough.C:
	}
}
