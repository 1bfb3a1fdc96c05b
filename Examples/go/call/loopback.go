package main

import (
	"net"

	"github.com/pion/ice/v2"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/webrtc/v3"
)

// The range of a track's bit rate, and the first estimate, in bits per second. Pion's estimates grow
// as long as the link carries what is sent, also if it is little.
const lowestEstimate, firstEstimate, highestEstimate = 300_000, 1_000_000, 4_000_000

// newPeer returns a peer that offers one codec, and connects to peers on this host only. It passes
// the bit rate that the link carries, as the other peer's feedback (TWCC) shows, to setBitRate; nil
// disables the estimate.
func newPeer(mimeType string, setBitRate func(uint32)) (*webrtc.PeerConnection, error) {
	media := &webrtc.MediaEngine{}
	err := media.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: mimeType, ClockRate: 90000,
			RTCPFeedback: []webrtc.RTCPFeedback{
				{Type: "nack"}, {Type: "nack", Parameter: "pli"}, {Type: "ccm", Parameter: "fir"},
				{Type: "goog-remb"},
			},
		},
		PayloadType: 96,
	}, webrtc.RTPCodecTypeVideo)
	if err != nil {
		return nil, err
	}
	interceptors := &interceptor.Registry{}
	if err := webrtc.RegisterDefaultInterceptors(media, interceptors); err != nil {
		return nil, err
	}
	if setBitRate != nil {
		if err := estimate(media, interceptors, setBitRate); err != nil {
			return nil, err
		}
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetIPFilter(func(address net.IP) bool { return address.IsLoopback() })
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media),
		webrtc.WithInterceptorRegistry(interceptors), webrtc.WithSettingEngine(settings))
	return api.NewPeerConnection(webrtc.Configuration{})
}

// estimate adds a congestion controller, which numbers the packets of tracks.
func estimate(
	media *webrtc.MediaEngine, interceptors *interceptor.Registry, setBitRate func(uint32),
) error {
	controller, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		return gcc.NewSendSideBWE(
			gcc.SendSideBWEMinBitrate(lowestEstimate), gcc.SendSideBWEInitialBitrate(firstEstimate),
			gcc.SendSideBWEMaxBitrate(highestEstimate), gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
	})
	if err != nil {
		return err
	}
	controller.OnNewPeerConnection(func(_ string, estimator cc.BandwidthEstimator) {
		// The callbacks run concurrently, so the newest estimate is read instead of the argument.
		estimator.OnTargetBitrateChange(func(int) { setBitRate(uint32(estimator.GetTargetBitrate())) })
	})
	interceptors.Add(controller)
	return webrtc.ConfigureTWCCHeaderExtensionSender(media, interceptors)
}

// connect exchanges the descriptions of two peers, with all candidates, as a signalling server
// would.
func connect(offerer, answerer *webrtc.PeerConnection) error {
	offer, err := offerer.CreateOffer(nil)
	if err != nil {
		return err
	}
	complete, err := describe(offerer, offer)
	if err != nil {
		return err
	}
	if err := answerer.SetRemoteDescription(complete); err != nil {
		return err
	}
	answer, err := answerer.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if complete, err = describe(answerer, answer); err != nil {
		return err
	}
	return offerer.SetRemoteDescription(complete)
}

// describe sets a local description, and returns it with the candidates.
func describe(
	peer *webrtc.PeerConnection, description webrtc.SessionDescription,
) (webrtc.SessionDescription, error) {
	gathered := webrtc.GatheringCompletePromise(peer)
	if err := peer.SetLocalDescription(description); err != nil {
		return webrtc.SessionDescription{}, err
	}
	<-gathered
	return *peer.LocalDescription(), nil
}
