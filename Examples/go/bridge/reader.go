package bridge

import (
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v3"
)

// Read joins the packets of a remote track to frames until the track ends, and passes on every
// frame. After a loss it requests a key frame, at most every half second, and leaves out frames
// until it arrives.
func Read(track *webrtc.TrackRemote, requestKeyFrame func(), receive func(*Frame)) error {
	codec, err := newCodec(track.Codec().MimeType)
	if err != nil {
		return err
	}
	reader := newReader(codec, requestKeyFrame, receive)
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return err
		}
		reader.push(packet)
	}
}

// reader passes on the frames of a track that can be decoded.
type reader struct {
	frames          *assembler
	needsKey        bool
	requests        limiter
	requestKeyFrame func()
	receive         func(*Frame)
}

func newReader(codec *codec, requestKeyFrame func(), receive func(*Frame)) *reader {
	return &reader{
		frames: newAssembler(codec), needsKey: true, requestKeyFrame: requestKeyFrame,
		receive: receive,
	}
}

func (r *reader) push(packet *rtp.Packet) {
	r.frames.push(packet)
	for frame := r.frames.pop(); frame != nil; frame = r.frames.pop() {
		r.needsKey = r.needsKey || frame.followsLoss
		if len(frame.Data) == 0 {
			continue
		}
		r.needsKey = r.needsKey && !frame.IsKeyFrame
		if !r.needsKey {
			r.receive(&frame.Frame)
		} else if r.requests.isDue(time.Now()) {
			r.requestKeyFrame()
		}
	}
}

// ReadRequests passes on the requests of a track's receiver until the sender ends: for key frames,
// and for a bit rate in bits per second.
func ReadRequests(
	sender *webrtc.RTPSender, requestKeyFrame func(), setBitRate func(uint32),
) error {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return err
		}
		for _, packet := range packets {
			switch packet := packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				requestKeyFrame()
			case *rtcp.ReceiverEstimatedMaximumBitrate:
				setBitRate(uint32(packet.Bitrate))
			}
		}
	}
}

// limiter limits requests for key frames to one per keyFrameInterval. It is not safe for
// concurrent use.
type limiter struct{ last time.Time }

// isDue returns whether a request may be sent now, and records it.
func (l *limiter) isDue(now time.Time) bool {
	if !l.last.IsZero() && now.Sub(l.last) < keyFrameInterval {
		return false
	}
	l.last = now
	return true
}
