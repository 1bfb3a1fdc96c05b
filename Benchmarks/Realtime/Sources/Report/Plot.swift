/// Line plots beside each other.
struct Plot: Sendable {
  struct Axis: Sendable {
    /// What is counted. The vertical axis has it in the panel's title, where it can be read upright.
    var label = ""
    var range: ClosedRange<Double>
    var ticks: [Double]
    var isLog = false
  }

  struct Series: Sendable {
    /// As the legend says it; `nil`: not in the legend.
    var name: String?
    /// Which of the colours, from 0.
    var color: Int
    var isDashed = false
    var points: [(Double, Double)]
  }

  /// A line across the plot.
  struct Reference: Sendable {
    var name: String
    var value: Double
  }

  struct Panel: Sendable {
    var title: String
    var x: Axis
    var y: Axis
    var series: [Series]
    var references: [Reference]
  }

  var title: String
  var subtitle: String
  var panels: [Panel]
}
