import Foundation
import SidelightKernels
import Synchronization

/// A filter that holds each frame until the test lets it go, and tells when it has one.
final class Gate: Sendable {
  /// Ticks when a frame has come in.
  let entered: AsyncStream<Void>
  private let entering: AsyncStream<Void>.Continuation
  private let permits = DispatchSemaphore(value: 0)
  private let entries = Atomic(0)

  init() {
    (self.entered, self.entering) = AsyncStream.makeStream()
  }

  /// A catalogue in which `gate` is the only filter; it returns its input.
  var catalogue: FilterCatalogue {
    var catalogue = FilterCatalogue()
    catalogue.register(self.filter)
    return catalogue
  }

  /// The filter `gate`.
  var filter: CustomFilter {
    CustomFilter(
      "gate", "Waits.",
      frame: { input, output, _ in
        self.hold()
        copy(input, into: &output)
      })
  }

  /// Tells that something has come in, and waits until it may go.
  func hold() {
    self.entries.add(1, ordering: .sequentiallyConsistent)
    self.entering.yield()
    self.permits.wait()
  }

  /// Frames that have come in so far.
  var entryCount: Int { self.entries.load(ordering: .sequentiallyConsistent) }

  /// Lets so many frames go.
  func open(for count: Int) {
    for _ in 0 ..< count { self.permits.signal() }
  }
}

/// Copies a frame's samples, row by row.
func copy(_ input: Frame, into output: inout MutableFrame) {
  for plane in 0 ..< input.format.planeCount {
    for row in 0 ..< input.format.rowCount(plane: plane, height: input.size.height) {
      input.withRow(row, plane: plane) { source in
        output.withMutableRow(row, plane: plane) { target in
          source.withUnsafeBytes { bytes in
            target.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
          }
        }
      }
    }
  }
}
