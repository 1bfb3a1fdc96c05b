package bridge

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/pion/webrtc/v3"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sidelight.example/go/sidelight"
	pb "sidelight.example/go/sidelightv1"
)

// patience is the time after which a test fails instead of waiting forever.
const patience = time.Minute

// scriptedServer accepts sessions, and answers what a test says.
type scriptedServer struct {
	pb.UnimplementedFrameFilterServer
	address  string
	sessions chan *scriptedSession
}

type scriptedSession struct {
	t      *testing.T
	stream pb.FrameFilter_ProcessServer
	// encoders are the settings of the encoder that the client sent.
	encoders chan *pb.SetEncoder
	lost     chan struct{}
}

func newScriptedServer(t *testing.T, options ...grpc.ServerOption) *scriptedServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &scriptedServer{
		address: listener.Addr().String(), sessions: make(chan *scriptedSession, 8),
	}
	service := grpc.NewServer(options...)
	pb.RegisterFrameFilterServer(service, server)
	go func() { _ = service.Serve(listener) }()
	t.Cleanup(service.Stop)
	return server
}

func (s *scriptedServer) Process(stream pb.FrameFilter_ProcessServer) error {
	session := &scriptedSession{
		stream: stream, encoders: make(chan *pb.SetEncoder, 64), lost: make(chan struct{}),
	}
	opened := &pb.ServerMessage_Opened{Opened: &pb.Opened{FramesInFlight: 4}}
	if err := stream.Send(&pb.ServerMessage{Kind: opened}); err != nil {
		return err
	}
	s.sessions <- session
	ended := make(chan error, 1)
	go func() {
		for {
			message, err := stream.Recv()
			if err != nil {
				ended <- nil
				return
			}
			if encoder := message.GetSetEncoder(); encoder != nil {
				session.encoders <- encoder
			}
		}
	}()
	select {
	case <-session.lost:
		return status.Error(codes.Unavailable, "the test ends the session")
	case err := <-ended:
		return err
	}
}

func (s *scriptedServer) next(t *testing.T) *scriptedSession {
	t.Helper()
	select {
	case session := <-s.sessions:
		session.t = t
		return session
	case <-time.After(patience):
		t.Fatal("no session")
		return nil
	}
}

// expect waits for a bit rate, and returns the number of its request.
func (s *scriptedSession) expect(bitRate uint32) uint64 {
	s.t.Helper()
	select {
	case encoder := <-s.encoders:
		if encoder.BitRate != bitRate {
			s.t.Fatalf("bit rate %d instead of %d", encoder.BitRate, bitRate)
		}
		return encoder.RequestId
	case <-time.After(patience):
		s.t.Fatalf("no bit rate %d", bitRate)
		return 0
	}
}

func (s *scriptedSession) accept(request uint64) {
	s.t.Helper()
	s.send(&pb.ServerMessage{
		Kind: &pb.ServerMessage_Accepted{Accepted: &pb.Accepted{RequestId: request}},
	})
}

func (s *scriptedSession) send(message *pb.ServerMessage) {
	s.t.Helper()
	if err := s.stream.Send(message); err != nil {
		s.t.Fatal(err)
	}
}

func dial(t *testing.T, server *scriptedServer) *sidelight.Client {
	client, err := sidelight.Dial(server.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newTestFilter(t *testing.T, server *scriptedServer, onConnection func(error)) *Filter {
	filter, err := NewFilter(dial(t, server), Options{
		MimeType: webrtc.MimeTypeVP8, OnConnection: onConnection,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(filter.Close)
	return filter
}

func TestTheNewestBitRateFollowsTheOneThatWaitsForItsAnswer(t *testing.T) {
	server := newScriptedServer(t)
	filter := newTestFilter(t, server, nil)
	session := server.next(t)
	filter.SetBitRate(1_000_000)
	first := session.expect(1_000_000)
	for bitRate := uint32(2_000_000); bitRate <= 4_000_000; bitRate += 1_000_000 {
		filter.SetBitRate(bitRate)
	}
	session.accept(first)
	session.accept(session.expect(4_000_000))
	filter.SetBitRate(1_000_000_000)
	session.accept(session.expect(maxBitRate))
}

func TestTheLowerEstimateIsTheBitRate(t *testing.T) {
	server := newScriptedServer(t)
	filter := newTestFilter(t, server, nil)
	session := server.next(t)
	for _, each := range []struct {
		estimate          *uint32
		bitRate, expected uint32
	}{
		{&filter.receiverEstimate, 3_000_000, 3_000_000}, {&filter.estimate, 2_000_000, 2_000_000},
		{&filter.receiverEstimate, 1_000_000, 1_000_000},
		{&filter.receiverEstimate, 4_000_000, 2_000_000},
	} {
		filter.setEstimate(each.estimate, each.bitRate)
		session.accept(session.expect(each.expected))
	}
}

func TestABitRateThatTheServerRefusesIsSentAgain(t *testing.T) {
	server := newScriptedServer(t)
	filter := newTestFilter(t, server, nil)
	session := server.next(t)
	filter.SetBitRate(1_000_000)
	session.send(&pb.ServerMessage{Kind: &pb.ServerMessage_Error{Error: &pb.Error{
		RequestId: session.expect(1_000_000),
		Status:    &rpc.Status{Code: int32(codes.Unavailable), Message: "the encoder is starting"},
	}}})
	filter.SetBitRate(1_000_000)
	session.accept(session.expect(1_000_000))
}

func TestASessionIsOpenAgainBeforeItsServerAnswersTheBitRate(t *testing.T) {
	server := newScriptedServer(t)
	connections := make(chan error, 8)
	filter := newTestFilter(t, server, func(err error) { connections <- err })
	session := server.next(t)
	filter.SetBitRate(1_000_000)
	session.accept(session.expect(1_000_000))
	close(session.lost)
	for _, isLost := range []bool{true, false} {
		select {
		case err := <-connections:
			if (err != nil) != isLost {
				t.Fatalf("lost: %v, error: %v", isLost, err)
			}
		case <-time.After(patience):
			t.Fatalf("lost: %v does not come", isLost)
		}
	}
	session = server.next(t)
	session.accept(session.expect(1_000_000))
}

func TestASessionNeedsAKeyFrameAtMostEveryHalfSecond(t *testing.T) {
	server := newScriptedServer(t)
	requests := 0
	session, err := dial(t, server).Open(context.Background(), sidelight.Options{
		OnEvent: func(event *pb.ServerMessage) {
			if event.GetKeyFrameNeeded() != nil {
				requests++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	begin := time.Now()
	const frames = 10_000
	for index := 0; index < frames; index++ {
		session.Offer(&pb.Frame{Image: &pb.Image{Encoded: &pb.EncodedPicture{}}})
	}
	if most := 1 + int(time.Since(begin)/keyFrameInterval); requests < 1 || requests > most {
		t.Fatalf("%d requests, at most %d", requests, most)
	}
}

func TestAnOpenThatTheServerDoesNotBeginEndsWithItsContext(t *testing.T) {
	server := newScriptedServer(t, grpc.MaxConcurrentStreams(1))
	client := dial(t, server)
	session, err := client.Open(context.Background(), sidelight.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Open(ctx, sidelight.Options{}); err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	session.Close()
	if session, err = client.Open(context.Background(), sidelight.Options{}); err != nil {
		t.Fatal(err)
	}
	session.Close()
}
