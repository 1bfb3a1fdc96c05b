package sidelight

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "sidelight.example/go/sidelightv1"
)

const (
	// maxWaitingControls is the maximum number of control messages that wait to be written.
	maxWaitingControls = 64
	// maxWaitingFrames is the maximum number of frames of encoded video that wait for a credit.
	maxWaitingFrames = 8
	// keyFrameInterval is the minimum time between two KeyFrameNeeded of the client.
	keyFrameInterval = 500 * time.Millisecond
)

// Session is a participant's video track that a server filters. Its methods may be called from any
// goroutine.
//
// Every offered frame has exactly one outcome, in the order of the frames. One goroutine writes,
// because gRPC allows one write at a time, and one reads. The newest frame waits for a credit, or up
// to maxWaitingFrames of encoded video, which depend on each other. Outcomes that are not taken hold
// credits, so all queues are bounded.
type Session struct {
	stream  pb.FrameFilter_ProcessClient
	cancel  context.CancelFunc
	onEvent func(*pb.ServerMessage)
	done    sync.WaitGroup

	mutex sync.Mutex
	// changed is closed and replaced at every change of the state below.
	changed chan struct{}
	queue   outcomeQueue
	waiting []*pb.Frame
	// needsKeyFrame is whether frames that depend on others cannot be decoded by the server.
	needsKeyFrame bool
	// lastKeyNeeded is the time of the client's last KeyFrameNeeded.
	lastKeyNeeded time.Time
	controls      []*pb.ClientMessage
	answers       map[uint64]*answer
	opened        *pb.Opened
	resumeToken   []byte
	sequence      uint64
	requestID     uint64
	isFinishing   bool
	isClosed      bool
	hasEnded      bool
	err           *Error
}

func newSession(
	stream pb.FrameFilter_ProcessClient, cancel context.CancelFunc, options Options,
) *Session {
	session := &Session{
		stream:        stream,
		cancel:        cancel,
		onEvent:       options.OnEvent,
		changed:       make(chan struct{}),
		answers:       map[uint64]*answer{},
		needsKeyFrame: true,
	}
	session.done.Add(2)
	go session.read()
	go session.write()
	return session
}

func (s *Session) open(ctx context.Context, open *pb.Open) error {
	message := &pb.ClientMessage{Kind: &pb.ClientMessage_Open{Open: open}}
	if err := s.post(ctx, message); err != nil {
		return err
	}
	err := s.wait(ctx, func() bool { return s.opened != nil || s.hasEnded })
	defer s.mutex.Unlock()
	if err == nil && s.opened == nil {
		err = s.endedError()
	}
	return err
}

// Opened returns the options in force, and the limits of the server.
func (s *Session) Opened() *pb.Opened {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.opened
}

// ResumeToken returns the newest token that restores the session, also after it ended.
func (s *Session) ResumeToken() []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.resumeToken
}

// IsOpen returns whether the call is open.
func (s *Session) IsOpen() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return !s.hasEnded
}

// Offer offers a frame, and returns its number. It never waits: the frame replaces the one that
// waits for a credit. Frames of encoded video are not replaced: if too many wait, all are dropped up
// to the next key frame, and Options.OnEvent receives a KeyFrameNeeded, at most every half second.
// Image.Encoded.KeyFrame must be set in key frames.
func (s *Session) Offer(frame *pb.Frame) uint64 {
	s.mutex.Lock()
	s.sequence++
	frame.Sequence = s.sequence
	encoded := frame.GetImage().GetEncoded()
	isPredicted := encoded != nil && !encoded.KeyFrame
	var needed *pb.KeyFrameNeeded
	switch {
	case s.hasEnded || s.isFinishing:
		s.queue.droppedInClient(frame, Disconnected)
	case isPredicted && (s.needsKeyFrame || len(s.waiting) == maxWaitingFrames):
		s.dropWaiting(SupersededInClient)
		s.queue.droppedInClient(frame, NotDecodable)
		s.needsKeyFrame = true
		if now := time.Now(); now.Sub(s.lastKeyNeeded) >= keyFrameInterval {
			s.lastKeyNeeded = now
			needed = &pb.KeyFrameNeeded{
				Sequence: frame.Sequence, Reason: pb.KeyFrameReason_KEY_FRAME_REASON_LOSS,
			}
		}
	case isPredicted:
		s.waiting = append(s.waiting, frame)
	default:
		s.dropWaiting(SupersededInClient)
		s.waiting = append(s.waiting, frame)
		s.needsKeyFrame = s.needsKeyFrame && encoded == nil
	}
	s.broadcast()
	s.mutex.Unlock()
	if needed != nil && s.onEvent != nil {
		s.onEvent(&pb.ServerMessage{Kind: &pb.ServerMessage_KeyFrameNeeded{KeyFrameNeeded: needed}})
	}
	return frame.Sequence
}

// dropWaiting drops the frames that wait. It requires the mutex.
func (s *Session) dropWaiting(reason string) {
	for _, frame := range s.waiting {
		s.queue.droppedInClient(frame, reason)
	}
	s.waiting = nil
}

// Next waits for the next outcome. After the last one it returns io.EOF if the session was
// finished, or the reason why it ended.
func (s *Session) Next(ctx context.Context) (Outcome, error) {
	err := s.wait(ctx, func() bool { return s.queue.isReady() || s.hasEnded })
	defer s.mutex.Unlock()
	switch {
	case err != nil:
		return nil, err
	case s.queue.isReady():
		outcome := s.queue.take()
		s.broadcast()
		return outcome, nil
	case s.err != nil:
		return nil, s.err
	default:
		return nil, io.EOF
	}
}

// Pause pauses filtering. Frames are dropped, or come back unchanged.
func (s *Session) Pause(ctx context.Context, passThrough bool) error {
	pause := &pb.Pause{PassThrough: passThrough}
	return s.post(ctx, &pb.ClientMessage{Kind: &pb.ClientMessage_Pause{Pause: pause}})
}

// Resume ends a pause.
func (s *Session) Resume(ctx context.Context) error {
	return s.post(ctx, &pb.ClientMessage{Kind: &pb.ClientMessage_Resume{Resume: &pb.Resume{}}})
}

// RequestKeyFrame requests a key frame of the output, for a receiver that joins or has lost a frame.
func (s *Session) RequestKeyFrame(ctx context.Context) error {
	request := &pb.ClientMessage_RequestKeyFrame{RequestKeyFrame: &pb.RequestKeyFrame{}}
	return s.post(ctx, &pb.ClientMessage{Kind: request})
}

// Finish ends the session after the frames that were offered. Their outcomes can still be taken.
func (s *Session) Finish() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isFinishing = true
	s.broadcast()
}

// Close cancels the call, and waits for the goroutines of the session. Options.OnEvent must not
// call it.
func (s *Session) Close() {
	s.mutex.Lock()
	s.isClosed = true
	s.mutex.Unlock()
	s.cancel()
	s.done.Wait()
}

// wait waits for a condition, and returns with the mutex locked, also after an error.
func (s *Session) wait(ctx context.Context, condition func() bool) error {
	s.mutex.Lock()
	for !condition() {
		changed := s.changed
		s.mutex.Unlock()
		select {
		case <-changed:
			s.mutex.Lock()
		case <-ctx.Done():
			s.mutex.Lock()
			return ctx.Err()
		}
	}
	return nil
}

// broadcast wakes all that wait. It requires the mutex.
func (s *Session) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Session) endedError() *Error {
	if s.err != nil {
		return s.err
	}
	return &Error{Code: codes.FailedPrecondition, Message: "the session has ended"}
}

// post queues a control message, which is written before the frame that waits.
func (s *Session) post(ctx context.Context, message *pb.ClientMessage) error {
	err := s.wait(ctx, func() bool { return len(s.controls) < maxWaitingControls || s.hasEnded })
	defer s.mutex.Unlock()
	if err != nil {
		return err
	}
	if s.hasEnded || s.isFinishing {
		return s.endedError()
	}
	s.controls = append(s.controls, message)
	s.broadcast()
	return nil
}

// write sends control messages first, then the frame that waits, if it has a credit.
func (s *Session) write() {
	defer s.done.Done()
	for {
		canSend := func() bool { return len(s.waiting) > 0 && s.opened != nil && s.queue.hasCredit() }
		canFinish := func() bool { return s.isFinishing && len(s.waiting) == 0 }
		_ = s.wait(context.Background(), func() bool {
			return s.hasEnded || len(s.controls) > 0 || canSend() || canFinish()
		})
		var message *pb.ClientMessage
		switch {
		case s.hasEnded:
			s.mutex.Unlock()
			return
		case len(s.controls) > 0:
			message, s.controls = s.controls[0], s.controls[1:]
		case len(s.waiting) > 0:
			frame := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.queue.sent(frame)
			message = &pb.ClientMessage{Kind: &pb.ClientMessage_Frame{Frame: frame}}
		default:
			s.mutex.Unlock()
			// The goroutine that reads learns the reason of a failure.
			_ = s.stream.CloseSend()
			return
		}
		s.broadcast()
		s.mutex.Unlock()
		if s.stream.Send(message) != nil {
			return
		}
	}
}

func (s *Session) read() {
	defer s.done.Done()
	for {
		message, err := s.stream.Recv()
		if err != nil {
			s.end(err)
			return
		}
		if !s.handle(message) && s.onEvent != nil {
			s.onEvent(message)
		}
	}
}

// end gives every frame without an outcome its outcome.
func (s *Session) end(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.hasEnded = true
	if !errors.Is(err, io.EOF) && !s.isClosed {
		s.err = newError(err)
	}
	s.dropWaiting(Disconnected)
	s.queue.disconnect(s.err)
	s.broadcast()
}

// handle handles outcomes and answers, and returns whether the message is one.
func (s *Session) handle(message *pb.ServerMessage) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer s.broadcast()
	switch kind := message.Kind.(type) {
	case *pb.ServerMessage_Frame:
		s.queue.returned(kind.Frame)
	case *pb.ServerMessage_Dropped:
		s.queue.dropped(kind.Dropped)
	case *pb.ServerMessage_Accepted:
		if reply := s.answers[kind.Accepted.RequestId]; reply != nil {
			reply.hasArrived, reply.revision = true, kind.Accepted.Revision
		}
	case *pb.ServerMessage_Error:
		reply := s.answers[kind.Error.RequestId]
		if reply == nil {
			return false
		}
		reply.hasArrived, reply.err = true, fromMessage(kind.Error.Status)
	case *pb.ServerMessage_Opened:
		s.opened = kind.Opened
		s.queue.capacity = int(kind.Opened.FramesInFlight)
		s.keepToken(kind.Opened.ResumeToken)
	case *pb.ServerMessage_Applied:
		s.keepToken(kind.Applied.ResumeToken)
		return false
	case *pb.ServerMessage_State:
		s.keepToken(kind.State.ResumeToken)
		return false
	default:
		return false
	}
	return true
}

func (s *Session) keepToken(token []byte) {
	if len(token) > 0 {
		s.resumeToken = token
	}
}
