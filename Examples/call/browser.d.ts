// Parts of browsers that the types of TypeScript 4.8 lack.

interface RTCRtpReceiver {
  /** The time for which the jitter buffer keeps frames, in milliseconds. */
  jitterBufferTarget: number | null;
}
