import Crypto
import Foundation

/// The order of a fleet's servers for a session, by weighted rendezvous hashing (Thaler and
/// Ravishankar, 1998; weights as in Schindelhauer and Schomaker, 2005).
///
/// It depends on the key and the servers only. A server is the first in proportion to its weight,
/// and a change of one server moves only keys from or to it. The weight of a server for a single
/// session is the inverse of its load. All sessions of a group must get one server, although loads
/// change and servers learn them at different times. Therefore all weights for groups are equal, and
/// loads only matter for servers that are nearly full.
package enum Placement {
  /// A server, and the load that it reports.
  package struct Peer: Sendable, Hashable {
    /// The address, `HOST:PORT`.
    package var address: String
    /// The load, more than 0.
    package var load: Double
    /// The number of open sessions; `nil` if it is not reported.
    package var sessions: Int?

    /// The name of the number of sessions in a report.
    static let sessionsMetric = "sidelight_sessions"

    package init(address: String, load: Double, sessions: Int? = nil) {
      self.address = address
      self.load = load
      self.sessions = sessions
    }
  }

  /// The load from which a server counts as overloaded: for a session, and for a group, which will
  /// grow.
  private static let fullLoad = (session: 1.0, group: 0.8)

  /// Returns the servers, the best first.
  ///
  /// - Parameters:
  ///   - key: The text that sessions of one place share.
  ///   - cost: The load that the sessions add. Servers that would be overloaded come last.
  package static func order(
    _ peers: [Peer], for key: String, isGroup: Bool, cost: Double = 0
  ) -> [Peer] {
    let fullLoad = isGroup ? Self.fullLoad.group : Self.fullLoad.session
    return peers.map { peer in
      let score = Self.score(peer.address, key) * (isGroup ? 1 : peer.load)
      return (peer, isFull: peer.load + cost > fullLoad, score: score)
    }
    .sorted { one, other in
      one.isFull == other.isFull ? one.score < other.score : !one.isFull
    }
    .map { $0.0 }
  }

  /// Returns an exponentially distributed number with the rate 1.
  private static func score(_ address: String, _ key: String) -> Double {
    let hash = SHA256.hash(data: Data("\(key)\0\(address)".utf8)).prefix(8)
      .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let uniform = (Double(hash >> 11) + 0.5) / 0x1p53
    return -log(uniform)
  }
}
