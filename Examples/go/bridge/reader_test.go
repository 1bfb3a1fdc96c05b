package bridge

import (
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v3"
)

func TestFramesAfterALossAreLeftOutAlsoIfTheFirstOneIsEmpty(t *testing.T) {
	var received []uint32
	requests := 0
	reader := newReader(supported[webrtc.MimeTypeVP8], func() { requests++ },
		func(frame *Frame) { received = append(received, frame.Timestamp) })
	const key, delta = 0x10, 0x11
	push := func(number uint16, data ...byte) {
		reader.push(&rtp.Packet{
			Header:  rtp.Header{SequenceNumber: number, Timestamp: uint32(number), Marker: true},
			Payload: append([]byte{0x10}, data...),
		})
	}
	push(0, key, 0, 0)
	push(1, delta, 0, 0)
	// Frame 2 is lost, and frame 3 left out with it. Frame 4 has only padding.
	push(3, delta, 0, 0)
	push(4)
	last := uint16(5)
	for ; last < maxLatePackets+10; last++ {
		push(last, delta, 0, 0)
	}
	if len(received) != 2 || requests == 0 {
		t.Fatalf("%v, %d requests", received, requests)
	}
	push(last, key, 0, 0)
	push(last+1, delta, 0, 0)
	if len(received) != 4 || received[2] != uint32(last) {
		t.Fatal(received)
	}
}

func TestAKeyFrameIsRequestedAtMostEveryHalfSecond(t *testing.T) {
	var requests limiter
	begin := time.Now()
	for _, each := range []struct {
		after time.Duration
		isDue bool
	}{{0, true}, {0, false}, {499, false}, {500, true}, {900, false}, {1000, true}} {
		if requests.isDue(begin.Add(each.after*time.Millisecond)) != each.isDue {
			t.Fatalf("after %d ms", each.after)
		}
	}
}
