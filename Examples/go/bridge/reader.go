package bridge

import (
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v3"
)

// Read joins the packets of a remote track to frames until the track ends, and passes on every
// frame. After a loss it requests a key frame, and leaves out frames until it arrives.
func Read(track *webrtc.TrackRemote, requestKeyFrame func(), receive func(*Frame)) error {
	codec, err := newCodec(track.Codec().MimeType)
	if err != nil {
		return err
	}
	frames := newAssembler(codec)
	needsKey := true
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return err
		}
		frames.push(packet)
		for frame := frames.pop(); frame != nil; frame = frames.pop() {
			if len(frame.Data) == 0 {
				continue
			}
			needsKey = (needsKey || frame.followsLoss) && !frame.IsKeyFrame
			if needsKey {
				requestKeyFrame()
				continue
			}
			receive(&frame.Frame)
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
