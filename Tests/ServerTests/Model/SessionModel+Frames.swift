import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Checks of frames that came back.
extension SessionModel {
  mutating func receive(_ frame: Sidelight_V1_FilteredFrame) throws(Violation) {
    try self.check(self.outstanding > 0, "frame \(frame.sequence), and none is due")
    let sent = self.frames[self.nextOutcome]
    let name = "frame \(sent.message.sequence) (the \(self.nextOutcome + 1)th)"
    try self.check(
      sent.message.sequence == frame.sequence, "\(frame.sequence) came back instead of \(name)")
    try self.check(sent.status == .admitted, "\(name) came back; it is \(sent.status)")
    try self.checkApplied(sent, frame, name)
    try self.checkEcho(sent, frame, name)
    try self.checkContent(sent, frame, name)
    self.count(frame)
    if !sent.message.mustProcess { self.framesWithinRate += 1 }
    guard self.opening.outputWindow > 0, !self.isClosing else { return }
    self.unacknowledged.append(frame.sequence)
    try self.check(
      self.unacknowledged.count <= self.opening.outputWindow,
      "\(name) came although \(self.opening.outputWindow) were not acknowledged")
  }

  /// Every output carries its revision, and the first of a revision was announced just before.
  private mutating func checkApplied(
    _ sent: SentFrame, _ frame: Sidelight_V1_FilteredFrame, _ name: String
  ) throws(Violation) {
    try self.check(
      frame.revision == sent.revision,
      "\(name) has revision \(frame.revision), \(sent.revision) was active")
    try self.check(
      self.applied?.revision == frame.revision,
      "\(name) has revision \(frame.revision), applied was \(self.applied?.revision ?? 0)")
    guard self.isApplicationPending else { return }
    self.isApplicationPending = false
    try self.check(
      self.applied?.firstSequence == frame.sequence,
      "\(name) is the first of its revision, announced was \(self.applied?.firstSequence ?? 0)")
    try self.check(
      self.applied?.requestID == sent.requestID,
      "applied names request \(self.applied?.requestID ?? 0), it was \(sent.requestID)")
  }

  private func checkEcho(
    _ sent: SentFrame, _ frame: Sidelight_V1_FilteredFrame, _ name: String
  ) throws(Violation) {
    let message = sent.message
    try self.check(frame.captureTimeNs == message.captureTimeNs, "\(name): another capture time")
    try self.check(frame.rtpTimestamp == message.rtpTimestamp, "\(name): another RTP timestamp")
    try self.check(frame.tags == message.tags, "\(name): other tags")
    try self.check(
      frame.image.format == message.image.format && frame.image.width == message.image.width
        && frame.image.height == message.image.height
        && frame.image.orientation == message.image.orientation,
      "\(name): another format, size or orientation")
    let timing = frame.timing
    // All times are rounded down separately.
    try self.check(
      UInt64(timing.queueUs) + UInt64(timing.processUs) <= UInt64(timing.totalUs),
      "\(name): parts of its time are longer than the whole: \(timing)")
  }

  private func checkContent(
    _ sent: SentFrame, _ frame: Sidelight_V1_FilteredFrame, _ name: String
  ) throws(Violation) {
    let pipeline = sent.pipeline
    if frame.hasFailure {
      return try self.checkFailure(sent, frame, name)
    }
    guard !sent.passes, !pipeline.active.isEmpty else {
      return try self.checkUnchanged(sent, frame, name)
    }
    try self.check(pipeline.broken == nil, "\(name) came back as if no stage were broken")
    try self.check(frame.disposition == .filtered, "\(name) is \(frame.disposition)")
    try self.check(!frame.unmodified, "\(name) was filtered, and is unmodified")
    try self.check(
      pipeline.makes(frame.image, of: sent.message.image),
      "\(name) is not what revision \(sent.revision) makes of it: \(pipeline.pipeline.text)")
  }

  private func checkUnchanged(
    _ sent: SentFrame, _ frame: Sidelight_V1_FilteredFrame, _ name: String
  ) throws(Violation) {
    try self.check(
      frame.disposition == .passedThrough, "\(name) had to pass, and is \(frame.disposition)")
    let isLeftOut = self.opening.allowUnmodified || self.opening.analysisOnly
    try self.check(frame.unmodified == isLeftOut, "\(name): unmodified is \(frame.unmodified)")
    if isLeftOut {
      try self.check(frame.image.pixels == nil, "\(name) has pixels")
    } else {
      try self.check(frame.image == sent.message.image, "\(name) passed, and is another image")
    }
  }

  private func checkFailure(
    _ sent: SentFrame, _ frame: Sidelight_V1_FilteredFrame, _ name: String
  ) throws(Violation) {
    let policy: FailurePolicy
    switch StatusCode(rawValue: frame.failure.code) {
    case .internalError?:
      try self.check(
        !sent.passes && sent.pipeline.broken != nil, "\(name) failed: \(frame.failure.message)")
      policy = sent.pipeline.broken?.failurePolicy ?? self.opening.failurePolicy
    case .deadlineExceeded?:
      try self.check(sent.mayFindWorkerStuck, "\(name) overran a time that it did not have")
      policy = self.opening.failurePolicy
    default: throw Violation(description: "\(name) failed with \(frame.failure)")
    }
    switch policy {
    case .passThrough: try self.checkUnchanged(sent, frame, name)
    case .drop: throw Violation(description: "\(name) failed and came back; it had to be dropped")
    case .blur:
      try self.check(frame.disposition == .degraded, "\(name) is \(frame.disposition)")
      try self.check(
        frame.image.inline.isEmpty == self.opening.analysisOnly,
        "\(name): \(frame.image.inline.count) bytes of blur")
    }
  }

  private mutating func count(_ frame: Sidelight_V1_FilteredFrame) {
    self.nextOutcome += 1
    self.counts.bytesOut += UInt64(frame.image.inline.count)
    switch frame.disposition {
    case .filtered: self.counts.filtered += 1
    case .passedThrough: self.counts.passedThrough += 1
    case .degraded: self.counts.degraded += 1
    case .unspecified, .UNRECOGNIZED: break
    }
  }
}
