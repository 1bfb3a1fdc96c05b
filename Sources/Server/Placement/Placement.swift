import Crypto
import Foundation

/// The order of a fleet's servers for a session, by weighted rendezvous hashing (Thaler and
/// Ravishankar, 1998; weights as in Schindelhauer and Schomaker, 2005).
///
/// It depends on the key and the servers only, so all servers give the same order. A server is the
/// first in proportion to its weight, the inverse of its load. A change of one server moves only
/// keys from or to it.
package enum Placement {
  /// A server, and the load that it reports.
  package struct Peer: Sendable, Hashable {
    /// The address, `HOST:PORT`.
    package var address: String
    /// The load, more than 0.
    package var load: Double

    package init(address: String, load: Double) {
      self.address = address
      self.load = load
    }
  }

  /// The load from which a server counts as overloaded.
  static let fullLoad = 1.0
  /// The steps of a weight in a doubling. Small changes of a load, which servers learn at different
  /// times, change no order; the error of a weight is 9 % at most.
  private static let stepsPerDoubling = 4.0

  /// Returns the servers, the best first.
  ///
  /// - Parameters:
  ///   - key: The text that sessions of one place share.
  ///   - cost: The load that the sessions add. Servers that would be overloaded come last.
  package static func order(_ peers: [Peer], for key: String, cost: Double = 0) -> [Peer] {
    peers.map { peer in
      (peer, isFull: peer.load + cost > Self.fullLoad, score: Self.score(peer, key))
    }
    .sorted { one, other in
      one.isFull == other.isFull ? one.score < other.score : !one.isFull
    }
    .map { $0.0 }
  }

  /// Returns an exponentially distributed number with the rate of the server's weight.
  private static func score(_ peer: Peer, _ key: String) -> Double {
    let hash = SHA256.hash(data: Data("\(key)\0\(peer.address)".utf8)).prefix(8)
      .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let uniform = (Double(hash >> 11) + 0.5) / 0x1p53
    let load = exp2((log2(peer.load) * Self.stepsPerDoubling).rounded() / Self.stepsPerDoubling)
    return -log(uniform) * load
  }
}
