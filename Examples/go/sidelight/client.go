// Package sidelight is a small client of a Sidelight server.
package sidelight

import (
	"context"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	pb "sidelight.example/go/sidelightv1"
)

// Client is a connection to a server, which sessions share.
type Client struct {
	connection *grpc.ClientConn
	stub       pb.FrameFilterClient
}

// Options are the options of a session.
type Options struct {
	// Pipeline is the text of the pipeline: `sepiaTone(intensity: 0.8), vignette`.
	Pipeline string
	// Label is the name of the track, for logs and operators.
	Label string
	// Participant is the participant whose video it is; empty: the caller itself.
	Participant string
	// Budget is the time from receipt of a frame until its result is useless; 0 disables the limit.
	Budget time.Duration
	// FailurePolicy is the handling of frames for which a stage fails.
	FailurePolicy pb.FailurePolicy
	// ResumeToken restores the pipeline of an earlier session; Pipeline is then ignored.
	ResumeToken []byte
	// OnEvent receives all messages of the server except outcomes and answers, and a KeyFrameNeeded
	// where the client needs one. The goroutines that read from the server and that offer frames
	// call it: it must return quickly.
	OnEvent func(*pb.ServerMessage)
}

// Dial returns a client, which connects in the background. The address is `127.0.0.1:50051` or
// `unix:/run/sidelight.sock`. Without options the connection has no TLS.
func Dial(address string, options ...grpc.DialOption) (*Client, error) {
	if len(options) == 0 {
		options = append(options, grpc.WithInsecure())
	}
	options = append(options,
		// gRPC's limit of 4 MiB is less than a 1080p frame in BGRA.
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
		// Video cannot wait for gRPC's pause of up to two minutes before it connects again.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, MaxDelay: time.Second,
			},
			MinConnectTimeout: time.Second,
		}))
	connection, err := grpc.Dial(address, options...)
	if err != nil {
		return nil, err
	}
	return &Client{connection, pb.NewFrameFilterClient(connection)}, nil
}

// Close ends the connection and its sessions.
func (c *Client) Close() error { return c.connection.Close() }

// Open opens a session, and waits until the server confirms it. The context ends only the wait.
func (c *Client) Open(ctx context.Context, options Options) (*Session, error) {
	open := &pb.Open{
		Label:         options.Label,
		Participant:   options.Participant,
		BudgetUs:      uint32(options.Budget.Microseconds()),
		FailurePolicy: options.FailurePolicy,
		ResumeToken:   options.ResumeToken,
	}
	if len(options.ResumeToken) == 0 {
		open.PipelineSource = &pb.Open_PipelineText{PipelineText: options.Pipeline}
	}
	callContext, cancel := context.WithCancel(context.Background())
	stream, err := c.process(ctx, callContext, cancel)
	if err != nil {
		cancel()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, newError(err)
	}
	session := newSession(stream, cancel, options)
	if err := session.open(ctx, open); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// process begins a call. It waits for a connection, and while the connection has as many calls as
// the server allows, until the first context ends.
func (c *Client) process(
	ctx, callContext context.Context, cancel func(),
) (pb.FrameFilter_ProcessClient, error) {
	hasBegun, isReleased := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(isReleased)
		select {
		case <-ctx.Done():
			cancel()
		case <-hasBegun:
		}
	}()
	stream, err := c.stub.Process(callContext)
	close(hasBegun)
	// A context that ends later does not end the call.
	<-isReleased
	return stream, err
}
