import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// A frame that arrived and was found sound, on its way to the lane.
struct IncomingFrame: Sendable {
  /// Its place in the order of arrival.
  let arrival: UInt64
  /// As it came, but for its pixels.
  let message: Sidelight_V1_Frame
  /// Its picture, where the transport put it.
  let picture: IncomingPicture
  /// The selection in force when it arrived.
  let selection: ActivePipeline
  /// What that comes to for pictures of the frame's form; `nil` if the frame is to come back as it is.
  let compiledPipeline: CompiledPipeline?
  /// When it arrived, on the session's clock.
  let received: Duration
  /// When it is of no use any more; `nil`: never.
  let deadline: Duration?
  /// Covers its whole way.
  let span: FrameSpan
  /// Where the lane tells of a file's samples; `nil` if nobody else looks at them.
  var samples: SharedSamples.Source?

  /// What is said of it when it comes back, but for pixels and timing; of the image, what came.
  func outcome(
    _ disposition: Disposition, failure: GoogleRPCStatus? = nil
  ) -> Sidelight_V1_FilteredFrame {
    .with {
      $0.sequence = self.message.sequence
      $0.image = self.message.image
      // A newer client's: whoever does not know them cannot say that they are still so.
      $0.image.unknownFields = UnknownStorage()
      $0.captureTimeNs = self.message.captureTimeNs
      $0.rtpTimestamp = self.message.rtpTimestamp
      $0.revision = self.selection.revision.number
      $0.disposition = Sidelight_V1_Disposition(disposition)
      $0.tags = self.message.tags
      if let failure { $0.failure = Google_Rpc_Status(failure) }
    }
  }

  /// Whether its picture lies in a slot, which is the client's again as soon as the frame's fate is told.
  /// A file was copied when it came.
  var isInPlace: Bool {
    if case .frame = self.picture { self.message.image.isInSlot } else { false }
  }

  /// What it may claim in the mailbox.
  var evictionPriority: EvictionPriority {
    EvictionPriority(priority: self.message.priority, mustStay: self.message.mustProcess)
  }
}

/// The samples of a file, decoded once for everybody who looks at them.
///
/// One side decodes: the lane, which must not wait for those who only look. They wait for it, and decode
/// themselves only what it never came to.
final class SharedSamples: Sendable {
  /// What came of it.
  enum Resolution: Sendable {
    case decoded(Frame)
    /// The file is none.
    case unreadable
    /// The frame was lost before anybody decoded it.
    case abandoned
  }

  /// The side that decodes. When nobody has it any more, nobody will.
  final class Source: Sendable {
    /// The side that waits.
    let samples = SharedSamples()

    deinit {
      self.samples.resolve(.abandoned)
    }

    /// The file is decoded, or cannot be.
    func resolve(_ resolution: Resolution) {
      self.samples.resolve(resolution)
    }
  }

  private let state = Mutex<Resolution?>(nil)
  private let resolved = Completion()

  private init() {}

  /// What came of it. Waits until that is known; a caller that is cancelled is told that nothing did.
  /// One task asks, once.
  var resolution: Resolution {
    get async {
      await withTaskCancellationHandler {
        await self.resolved.wait()
      } onCancel: {
        self.resolved.finish()
      }
      return self.state.withLock { $0 } ?? .abandoned
    }
  }

  /// The first call counts.
  private func resolve(_ resolution: Resolution) {
    self.state.withLock { if $0 == nil { $0 = resolution } }
    self.resolved.finish()
  }
}
