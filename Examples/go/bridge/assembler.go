package bridge

import "github.com/pion/rtp"

const (
	// maxLatePackets is the number of later packets after which a missing one counts as lost.
	maxLatePackets = 128
	// maxPackets is the maximum number of packets of a frame: about 2 MB.
	maxPackets = 2048
)

// assembledFrame is a frame of a track.
type assembledFrame struct {
	Frame
	// followsLoss is whether packets before the frame were lost.
	followsLoss bool
}

// assembler puts the packets of a track into order, and joins them to frames. A frame is
// complete with its last packet: pion's samplebuilder waits for the next frame, which costs the
// time of one.
type assembler struct {
	codec *codec
	// parts has the state of the frame whose packets are joined.
	parts   rtp.Depacketizer
	packets map[uint16]*rtp.Packet
	// next is the number of the first packet that is not joined.
	next      uint16
	isStarted bool
	hasLoss   bool
}

func newAssembler(codec *codec) *assembler {
	return &assembler{
		codec: codec, parts: codec.newDepacketizer(), packets: map[uint16]*rtp.Packet{},
	}
}

// push adds a packet. Late ones and repeated ones are ignored, and so are those before the first
// start of a frame.
func (a *assembler) push(packet *rtp.Packet) {
	if !a.isStarted {
		if !a.parts.IsPartitionHead(packet.Payload) {
			return
		}
		a.next, a.isStarted = packet.SequenceNumber, true
	}
	if int16(packet.SequenceNumber-a.next) < 0 {
		return
	}
	a.packets[packet.SequenceNumber] = packet
	count := len(a.packets)
	if count > maxPackets || count > maxLatePackets && count-a.row() > maxLatePackets {
		a.skipLoss()
	}
}

// row returns the number of packets before the first missing one.
func (a *assembler) row() int {
	count := 0
	for a.packets[a.next+uint16(count)] != nil {
		count++
	}
	return count
}

// pop returns the oldest frame, or nil if it is not complete.
func (a *assembler) pop() *assembledFrame {
	for number := a.next; ; number++ {
		packet := a.packets[number]
		if packet == nil {
			return nil
		}
		if !packet.Marker {
			continue
		}
		frame := &assembledFrame{followsLoss: a.hasLoss}
		frame.Timestamp = packet.Timestamp
		a.parts = a.codec.newDepacketizer()
		for ; a.next != number+1; a.next++ {
			frame.Data = append(frame.Data, a.payload(a.packets[a.next])...)
			delete(a.packets, a.next)
		}
		frame.IsKeyFrame = a.codec.isKeyFrame(frame.Data)
		a.hasLoss = false
		return frame
	}
}

// skipLoss goes on after the frame of the missing packet, which ends with a marker. If that is the
// missing packet, the next frame is left out too; it depends on the lost one.
func (a *assembler) skipLoss() {
	a.hasLoss = true
	for len(a.packets) > 0 {
		packet := a.packets[a.next]
		delete(a.packets, a.next)
		a.next++
		if packet != nil && packet.Marker {
			return
		}
	}
	a.isStarted = false
}

// payload returns the part of a frame that a packet has. Padding has no payload.
func (a *assembler) payload(packet *rtp.Packet) []byte {
	data, err := a.parts.Unmarshal(packet.Payload)
	if err != nil {
		return nil
	}
	return data
}
