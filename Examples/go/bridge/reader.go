package bridge

import (
	"github.com/pion/webrtc/v3"

	"sidelight.example/go/vp8"
)

// Read decodes a remote VP8 track until it ends, and passes on every picture with its RTP
// timestamp. After a loss it requests a key frame, and skips undecodable pictures until then.
func Read(
	track *webrtc.TrackRemote, requestKeyFrame func(), receive func(*vp8.Picture, uint32),
) error {
	decoder, err := vp8.NewDecoder()
	if err != nil {
		return err
	}
	defer decoder.Close()
	frames := newAssembler()
	needsKey := true
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return err
		}
		frames.push(packet)
		for frame := frames.pop(); frame != nil; frame = frames.pop() {
			if len(frame.data) == 0 {
				continue
			}
			needsKey = needsKey || frame.followsLoss
			if needsKey && !vp8.IsKeyFrame(frame.data) {
				requestKeyFrame()
				continue
			}
			picture, err := decoder.Decode(frame.data)
			needsKey = err != nil
			if picture != nil {
				receive(picture, frame.timestamp)
			}
		}
	}
}
