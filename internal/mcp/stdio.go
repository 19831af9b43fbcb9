package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers bounds how long the answers to what was asked before the end of the
// input may take.
const lastAnswers = 5 * time.Second

// Stdio returns a transport of lines, for standard input and output. Out is never
// closed. What was asked before in ended is still answered: without that, the end
// of the input cancels the requests before it, and a pipe gets half of its answers.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	return patient{&sdk.IOTransport{Reader: io.NopCloser(in), Writer: keptOpen{out}}}
}

// keptOpen is a writer that the server does not close.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

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
