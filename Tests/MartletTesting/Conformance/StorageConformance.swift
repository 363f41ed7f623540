public import MartletCore

/// The behaviour of the storage ports, as requirements that every storage must meet. A change of a port needs a change
/// of these requirements.
///
/// ```swift
/// @Test(arguments: StorageConformance.requirements)
/// func memory(_ requirement: StorageConformance.Requirement) async throws {
///     try await requirement.check(MemoryStorage())
/// }
/// ```
public enum StorageConformance {
    public typealias Storage = ControlStore & DeadLetterStore & DeviceKeyStore & DeviceStore & FunnelStore & HubStore
        & JobStore
        & LaneStore & MetricHourStore & NotificationStore & OperatorFactorStore & OperatorStore & PayloadStore
        & ReceiptStore
        & SendRecordStore & TraceStore & UserStore

    /// A requirement: one sentence, and a check of it on an empty storage.
    public struct Requirement: Sendable, CustomStringConvertible {
        public let description: String
        private let body: @Sendable (StorageBench) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (StorageBench) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// Checks that a storage meets the requirement.
        /// - Parameter storage: An empty storage that nothing else uses.
        /// - Throws: `ConformanceFailure` if the storage does not meet the requirement.
        public func check(_ storage: any Storage) async throws {
            try await body(StorageBench(storage))
        }
    }

    public static let requirements: [Requirement] =
        hubs + registrations + templates + conditions + expiry + sharedHandles + listings + audiences
        + templateAudiences + feedback + installations + installationConditions + installationHandles + notifications
        + control + parts + schedules + collapses + repetitions + backlogs + deliveries + deadLetters + lanes + users
        + operators
        + jobs + history + pageRecords
        + traces + payloads
        + payloadQuotas
        + payloadAudits
        + composedMessages + deviceKeys + audienceTags + receipts + funnels + sends
}

/// The reason why a storage does not meet a requirement.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String
}

/// Checks that a value equals the expected value.
/// - Throws: `ConformanceFailure` if the values differ.
func require<Value: Equatable>(
    _ found: Value, is wanted: Value, _ what: String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
    guard found != wanted else { return }
    throw ConformanceFailure(description: "\(file):\(line) \(what) found \(found), wanted \(wanted)")
}

/// Returns a value that must not be nil.
/// - Throws: `ConformanceFailure` if the value is nil.
func require<Value>(_ value: Value?, file: StaticString = #fileID, line: UInt = #line) throws -> Value {
    guard let value else { throw ConformanceFailure(description: "\(file):\(line) found nothing") }
    return value
}
