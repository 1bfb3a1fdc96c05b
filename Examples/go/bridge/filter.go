// Package bridge filters a pion video track through Sidelight.
package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v3"
	"google.golang.org/grpc/codes"

	"sidelight.example/go/sidelight"
	pb "sidelight.example/go/sidelightv1"
	"sidelight.example/go/vp8"
)

const (
	openTimeout  = 5 * time.Second
	firstRetry   = 50 * time.Millisecond
	longestRetry = 2 * time.Second
)

// Options are the options of a filter.
type Options struct {
	sidelight.Options
	// Kilobits is the bit rate of the filtered track, in kilobits per second.
	Kilobits int
	// ShowsUnfiltered is whether pictures are shown without a filter while there is no server. It is
	// false for pipelines that hide something; the track then pauses.
	ShowsUnfiltered bool
	// OnOutcome receives every outcome. It must return quickly.
	OnOutcome func(sidelight.Outcome)
	// OnConnection receives nil when a session is open, and the reason when it is lost.
	OnConnection func(error)
}

// Filter is a track whose pictures go through a session. The newest pictures win towards the server
// and towards the encoder. A lost session is opened again with its newest resume token.
type Filter struct {
	client  *sidelight.Client
	options Options
	output  *Writer
	cancel  context.CancelFunc
	done    chan struct{}

	mutex      sync.Mutex
	session    *sidelight.Session
	unfiltered int
}

// NewFilter opens a session. The filtered track is Output().Track.
func NewFilter(client *sidelight.Client, options Options) (*Filter, error) {
	output, err := NewWriter("filtered", options.Kilobits)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	filter := &Filter{
		client: client, options: options, output: output, cancel: cancel, done: make(chan struct{}),
	}
	openContext, stop := context.WithTimeout(ctx, openTimeout)
	defer stop()
	session, err := client.Open(openContext, options.Options)
	if err != nil {
		cancel()
		return nil, err
	}
	filter.session = session
	go filter.run(ctx)
	return filter, nil
}

// Output returns the writer of the filtered track.
func (f *Filter) Output() *Writer { return f.output }

// Select replaces the pipeline by its text, and returns its revision.
func (f *Filter) Select(ctx context.Context, pipeline string) (uint64, error) {
	revision, err := f.Session().Select(ctx, pipeline)
	if err == nil {
		f.mutex.Lock()
		f.options.Pipeline = pipeline
		f.mutex.Unlock()
	}
	return revision, err
}

// Session returns the current session.
func (f *Filter) Session() *sidelight.Session {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.session
}

// Unfiltered returns the number of pictures that arrived while there was no session.
func (f *Filter) Unfiltered() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.unfiltered
}

// Read filters a remote track until it ends.
func (f *Filter) Read(track *webrtc.TrackRemote, peer *webrtc.PeerConnection) error {
	requestKeyFrame := func() {
		// A request that is lost is repeated with the next frame that cannot be decoded.
		_ = peer.WriteRTCP([]rtcp.Packet{
			&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())},
		})
	}
	return Read(track, requestKeyFrame, f.offer)
}

// ReadRequests handles the requests of a receiver for key frames, until the sender ends.
func (f *Filter) ReadRequests(sender *webrtc.RTPSender) error {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return err
		}
		for _, packet := range packets {
			switch packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				f.output.RequestKeyFrame()
			}
		}
	}
}

// Close finishes the pictures that were offered, and ends the session.
func (f *Filter) Close() {
	f.Session().Finish()
	select {
	case <-f.done:
	case <-time.After(openTimeout):
	}
	f.cancel()
	<-f.done
	f.Session().Close()
	f.output.Close()
}

// offer passes a picture to the session, or shows it without one.
func (f *Filter) offer(picture *vp8.Picture, timestamp uint32) {
	session := f.Session()
	if session.IsOpen() {
		session.Offer(&pb.Frame{
			RtpTimestamp: timestamp,
			Image: &pb.Image{
				Format: pb.PixelFormat_PIXEL_FORMAT_I420,
				Width:  uint32(picture.Width),
				Height: uint32(picture.Height),
				Pixels: &pb.Image_Inline{Inline: picture.Pixels},
			},
		})
		return
	}
	f.mutex.Lock()
	f.unfiltered++
	f.mutex.Unlock()
	if f.options.ShowsUnfiltered {
		// The track is closed if it cannot be written.
		_ = f.output.Write(picture, timestamp)
	}
}

// run takes outcomes, and opens the session again when it is lost.
func (f *Filter) run(ctx context.Context) {
	defer close(f.done)
	for {
		session := f.Session()
		err := f.show(ctx, session)
		if err == nil || ctx.Err() != nil {
			return
		}
		f.notify(err)
		if !f.reopen(ctx, session) {
			return
		}
		f.notify(nil)
	}
}

// show writes pictures until the session ends. It returns nil if the session was finished.
func (f *Filter) show(ctx context.Context, session *sidelight.Session) error {
	for {
		outcome, err := session.Next(ctx)
		if err != nil {
			if _, isError := err.(*sidelight.Error); isError {
				return err
			}
			return nil
		}
		if f.options.OnOutcome != nil {
			f.options.OnOutcome(outcome)
		}
		frame, hasPicture := outcome.(*sidelight.Returned)
		if !hasPicture {
			continue
		}
		image := frame.GetImage()
		picture := &vp8.Picture{
			Width:  int(image.GetWidth()),
			Height: int(image.GetHeight()),
			Pixels: image.GetInline(),
		}
		// The track is closed if it cannot be written.
		_ = f.output.Write(picture, frame.RtpTimestamp)
	}
}

func (f *Filter) reopen(ctx context.Context, lost *sidelight.Session) bool {
	f.mutex.Lock()
	options := f.options.Options
	f.mutex.Unlock()
	options.ResumeToken = lost.ResumeToken()
	lost.Close()
	for pause := firstRetry; ; pause *= 2 {
		openContext, stop := context.WithTimeout(ctx, openTimeout)
		session, err := f.client.Open(openContext, options)
		stop()
		if err == nil {
			f.mutex.Lock()
			f.session = session
			f.mutex.Unlock()
			return true
		}
		if failure, is := err.(*sidelight.Error); is && failure.Code == codes.FailedPrecondition {
			// The token is invalid on a server with another key; the last pipeline is known here.
			options.ResumeToken = nil
		}
		if pause > longestRetry {
			pause = longestRetry
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}

func (f *Filter) notify(err error) {
	if f.options.OnConnection != nil {
		f.options.OnConnection(err)
	}
}
