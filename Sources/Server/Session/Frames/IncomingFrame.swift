import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// A valid frame on its way to the worker.
struct IncomingFrame: Sendable {
  /// The position in the order of arrival.
  let arrival: UInt64
  /// The message without its pixels.
  let message: Sidelight_V1_Frame
  /// The picture, in the transport's memory.
  var picture: IncomingPicture
  /// The pipeline that was active when the frame arrived.
  let activePipeline: ActivePipeline
  /// That pipeline, compiled for the frame's form, or `nil` if the frame comes back unfiltered.
  let compiledPipeline: CompiledPipeline?
  /// The mix with the result of an earlier pipeline, or `nil` outside of transitions.
  let transition: FrameTransition?
  /// The time of arrival, on the session's clock.
  let received: Duration
  /// The time after which the frame is useless. `nil` disables the deadline.
  let deadline: Duration?
  /// The span from arrival to outcome.
  let span: FrameSpan
  /// The results that a composed frame shows; `nil` for other frames.
  let composition: ComposedResults?
  /// Receives the samples of a file once they are decoded, if an analysis needs them.
  var samples: SharedSamples.Source?

  /// Whether the frame needs filtering; `false` if it comes back byte for byte.
  var needsFiltering: Bool {
    self.compiledPipeline?.changesNothing == false || self.transition != nil
  }

  /// Whether custom filters are active. They may not return.
  var isCustom: Bool {
    self.compiledPipeline?.isCustom == true || self.transition?.earlier.isCustom == true
  }

  /// Returns the outcome's message without pixels and timing; its image is the frame's own.
  func outcome(
    _ disposition: FrameDisposition, failure: GoogleRPCStatus? = nil
  ) -> Sidelight_V1_FilteredFrame {
    .with {
      $0.sequence = self.message.sequence
      $0.image = self.message.image
      // Fields of a newer contract may not hold for the filtered image.
      $0.image.unknownFields = UnknownStorage()
      $0.captureTimeNs = self.message.captureTimeNs
      $0.rtpTimestamp = self.message.rtpTimestamp
      $0.revision = self.activePipeline.revision.number
      $0.disposition = Sidelight_V1_Disposition(disposition)
      $0.tags = self.message.tags
      if let failure { $0.failure = Google_Rpc_Status(failure) }
    }
  }

  /// Whether the picture is in a slot of shared memory, which belongs to the client again once the
  /// outcome is sent. Compressed pictures are copied out of their slots on arrival.
  var isInSharedMemory: Bool {
    if case .frame = self.picture { self.message.image.isInSlot } else { false }
  }

  /// The number of received bytes of the picture, or 0 in shared memory.
  var receivedByteCount: Int {
    self.message.image.isInSlot ? 0 : self.picture.bytes.byteCount
  }

  /// The frame's priority in a full mailbox.
  var evictionPriority: EvictionPriority {
    EvictionPriority(priority: self.message.priority, mustStay: self.message.mustProcess)
  }
}

/// The samples of a file, decoded once by the session's worker and shared with its analyses.
///
/// The worker never waits for an analysis. An analysis waits for the worker, and decodes the file
/// itself if the worker drops the frame first.
final class SharedSamples: Sendable {
  /// The result of decoding.
  enum Resolution: Sendable {
    case decoded(Frame)
    /// The file cannot be decoded.
    case unreadable
    /// The frame was dropped before it was decoded.
    case abandoned
  }

  /// The worker's side. Its end resolves the samples as abandoned.
  final class Source: Sendable {
    /// The side of the analyses.
    let samples = SharedSamples()

    deinit {
      self.samples.resolve(.abandoned)
    }

    /// Publishes the result. Later calls have no effect.
    func resolve(_ resolution: Resolution) {
      self.samples.resolve(resolution)
    }
  }

  private let state = Mutex<Resolution?>(nil)
  private let resolved = Completion()

  private init() {}

  /// The result. Waits for it; `abandoned` if the caller is cancelled. One task may wait, once.
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

  private func resolve(_ resolution: Resolution) {
    self.state.withLock { if $0 == nil { $0 = resolution } }
    self.resolved.finish()
  }
}
