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
)

const (
	openTimeout  = 5 * time.Second
	firstRetry   = 50 * time.Millisecond
	longestRetry = 2 * time.Second
	// keyFrameInterval is the minimum time between two requests to the sender.
	keyFrameInterval = 500 * time.Millisecond
	// The range of the server's encoders, in bits per second.
	minBitRate, maxBitRate = 20_000, 100_000_000
)

// Options are the options of a filter.
type Options struct {
	sidelight.Options
	// MimeType is the codec of both tracks, as they were negotiated: webrtc.MimeTypeVP8 or
	// webrtc.MimeTypeH264.
	MimeType string
	// ShowsUnfiltered is whether frames are shown without a filter while there is no server. It is
	// false for pipelines that hide something; the track then pauses.
	ShowsUnfiltered bool
	// OnOutcome receives every outcome. It must return quickly.
	OnOutcome func(sidelight.Outcome)
	// OnConnection receives nil when a session is open, and the reason when it is lost.
	OnConnection func(error)
}

// Filter is a track whose frames go through a session, encoded. A lost session is opened again with
// its newest resume token, and goes on with the sender's next key frame.
type Filter struct {
	client  *sidelight.Client
	options Options
	output  *Writer
	cancel  context.CancelFunc
	done    chan struct{}

	mutex      sync.Mutex
	session    *sidelight.Session
	unfiltered int
	// showsOriginals is whether the track shows the frames of the sender since a key frame.
	showsOriginals bool
	sendRequest    func()
	requests       limiter
	// estimate and receiverEstimate are the newest ones, 0 before the first; bitRate is the one that
	// the session accepted last.
	estimate, receiverEstimate, bitRate uint32
	// hasWish has a value when adapt must compare the bit rates.
	hasWish chan struct{}
}

// NewFilter opens a session. The filtered track is Output().Track.
func NewFilter(client *sidelight.Client, options Options) (*Filter, error) {
	output, err := NewWriter("filtered", options.MimeType)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	filter := &Filter{
		client: client, options: options, output: output, cancel: cancel, done: make(chan struct{}),
		hasWish: make(chan struct{}, 1),
	}
	filter.options.OnEvent = func(event *pb.ServerMessage) {
		if event.GetKeyFrameNeeded() != nil {
			filter.requestKeyFrame()
		}
		if options.OnEvent != nil {
			options.OnEvent(event)
		}
	}
	openContext, stop := context.WithTimeout(ctx, openTimeout)
	defer stop()
	session, err := client.Open(openContext, filter.options.Options)
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

// Unfiltered returns the number of frames that arrived while there was no session.
func (f *Filter) Unfiltered() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.unfiltered
}

// Read filters a remote track until it ends. The sender is asked for a key frame where the server or
// a receiver needs one.
func (f *Filter) Read(track *webrtc.TrackRemote, peer *webrtc.PeerConnection) error {
	f.mutex.Lock()
	f.sendRequest = func() {
		// A request that is lost is repeated with the next frame that cannot be decoded.
		_ = peer.WriteRTCP([]rtcp.Packet{
			&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())},
		})
	}
	f.mutex.Unlock()
	return Read(track, f.requestKeyFrame, f.offer)
}

// ReadRequests passes the requests of a receiver on to the server's encoder, until the sender ends:
// for key frames, and for a bit rate.
func (f *Filter) ReadRequests(sender *webrtc.RTPSender) error {
	return ReadRequests(sender, func() {
		// Without a session, or while no message is written, the receiver repeats its request.
		ctx, stop := context.WithTimeout(context.Background(), keyFrameInterval)
		defer stop()
		_ = f.Session().RequestKeyFrame(ctx)
	}, func(bitRate uint32) { f.setEstimate(&f.receiverEstimate, bitRate) })
}

// SetBitRate sets the bit rate of the filtered track in bits per second, as a congestion controller
// estimates it, within the range of the server's encoders. A lower one that the receiver requests has
// precedence. It never waits: the newest bit rate replaces the one that waits for the server. Changes
// of less than a tenth of the bit rate that the server accepted last are ignored.
func (f *Filter) SetBitRate(bitRate uint32) { f.setEstimate(&f.estimate, bitRate) }

func (f *Filter) setEstimate(estimate *uint32, bitRate uint32) {
	if bitRate < minBitRate {
		bitRate = minBitRate
	} else if bitRate > maxBitRate {
		bitRate = maxBitRate
	}
	f.mutex.Lock()
	*estimate = bitRate
	f.mutex.Unlock()
	f.wish()
}

// wish tells adapt that a bit rate or the session has changed.
func (f *Filter) wish() {
	select {
	case f.hasWish <- struct{}{}:
	default:
	}
}

// adapt sends the newest bit rate to the session, one at a time.
func (f *Filter) adapt(ctx context.Context) {
	for {
		select {
		case <-f.hasWish:
		case <-ctx.Done():
			return
		}
		f.mutex.Lock()
		session, wished, last := f.session, f.estimate, f.bitRate
		if wished == 0 || 0 < f.receiverEstimate && f.receiverEstimate < wished {
			wished = f.receiverEstimate
		}
		f.mutex.Unlock()
		isSmall := last > 0 && wished > last-last/10 && wished < last+last/10
		if wished == 0 || isSmall {
			continue
		}
		answerContext, stop := context.WithTimeout(ctx, openTimeout)
		err := session.SetBitRate(answerContext, wished)
		stop()
		f.mutex.Lock()
		// One that the server did not accept is sent again with the next estimate.
		if err == nil && f.session == session {
			f.bitRate = wished
		}
		f.mutex.Unlock()
	}
}

func (f *Filter) requestKeyFrame() {
	f.mutex.Lock()
	send := f.sendRequest
	isDue := f.requests.isDue(time.Now())
	f.mutex.Unlock()
	if isDue && send != nil {
		send()
	}
}

// Close finishes the frames that were offered, and ends the session.
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

// offer passes a frame to the session, or shows it without one.
func (f *Filter) offer(frame *Frame) {
	session := f.Session()
	if session.IsOpen() {
		session.Offer(&pb.Frame{
			RtpTimestamp: frame.Timestamp,
			Image: &pb.Image{
				Format:  f.output.codec.format,
				Encoded: &pb.EncodedPicture{KeyFrame: frame.IsKeyFrame},
				Pixels:  &pb.Image_Inline{Inline: frame.Data},
			},
		})
		return
	}
	f.mutex.Lock()
	f.unfiltered++
	// The receiver has no frame on which a frame of the sender depends.
	f.showsOriginals = f.options.ShowsUnfiltered && (f.showsOriginals || frame.IsKeyFrame)
	isShown := f.showsOriginals
	f.mutex.Unlock()
	switch {
	case isShown:
		// The track is closed if it cannot be written.
		_ = f.output.Write(frame)
	case f.options.ShowsUnfiltered:
		f.requestKeyFrame()
	}
}

// run takes outcomes, and opens the session again when it is lost.
func (f *Filter) run(ctx context.Context) {
	defer close(f.done)
	ctx, cancel := context.WithCancel(ctx)
	adapted := make(chan struct{})
	go func() {
		defer close(adapted)
		f.adapt(ctx)
	}()
	defer func() {
		cancel()
		<-adapted
	}()
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

// show writes frames until the session ends. It returns nil if the session was finished.
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
		// The track is closed if it cannot be written.
		_ = f.output.Write(&Frame{
			Data:       image.GetInline(),
			Timestamp:  frame.RtpTimestamp,
			IsKeyFrame: image.GetEncoded().GetKeyFrame(),
		})
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
			f.session, f.showsOriginals = session, false
			// A token does not restore the bit rate.
			f.bitRate = 0
			f.mutex.Unlock()
			f.wish()
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
