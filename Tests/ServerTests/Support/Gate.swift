import Foundation
import SidelightKernels
import Synchronization

/// A filter that holds each frame until the test releases it, and reports when it receives one.
final class Gate: Sendable {
  /// Has an element for each received frame.
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

  /// Reports an arrival, and waits for its release.
  func hold() {
    self.entries.add(1, ordering: .sequentiallyConsistent)
    self.entering.yield()
    self.permits.wait()
  }

  /// The number of frames received so far.
  var entryCount: Int { self.entries.load(ordering: .sequentiallyConsistent) }

  /// Releases a number of frames.
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
