import Foundation
package import SidelightKernels
import Synchronization

/// A filter that holds every frame until the test releases it, and reports when it receives one.
package final class Gate: Sendable {
  /// An element per received frame.
  package let entered: AsyncStream<Void>
  private let entering: AsyncStream<Void>.Continuation
  private let permits = DispatchSemaphore(value: 0)
  private let entries = Atomic(0)

  /// Creates a gate that holds frames.
  package init() {
    (self.entered, self.entering) = AsyncStream.makeStream()
  }

  /// A catalogue in which `gate` is the only filter; it returns its input.
  package var catalogue: FilterCatalogue {
    var catalogue = FilterCatalogue()
    catalogue.register(self.filter)
    return catalogue
  }

  /// The filter `gate`.
  package var filter: CustomFilter {
    CustomFilter(
      "gate", "Waits.",
      frame: { input, output, _ in
        self.hold()
        copy(input, into: &output)
      })
  }

  /// Reports an arrival, and waits for its release.
  package func hold() {
    self.entries.add(1, ordering: .sequentiallyConsistent)
    self.entering.yield()
    self.permits.wait()
  }

  /// The number of frames received so far.
  package var entryCount: Int { self.entries.load(ordering: .sequentiallyConsistent) }

  /// Releases a number of frames.
  package func open(for count: Int) {
    for _ in 0 ..< count { self.permits.signal() }
  }
}

/// Copies a frame's samples, row by row.
package func copy(_ input: Frame, into output: inout MutableFrame) {
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
