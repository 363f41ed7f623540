public import MartletCore

/// The behaviour of the storage ports, as requirements that every storage is to meet. A change to a port comes with a
/// change here.
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

    /// One sentence about storage that can be checked on an empty one.
    public struct Requirement: Sendable, CustomStringConvertible {
        public let description: String
        private let body: @Sendable (StorageBench) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (StorageBench) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// - Parameter storage: Empty, and of no use to others.
        /// - Throws: `ConformanceFailure` where the storage does not meet the requirement.
        public func check(_ storage: any Storage) async throws {
            try await body(StorageBench(storage))
        }
    }

    public static let requirements: [Requirement] =
        hubs + registrations + templates + conditions + expiry + sharedHandles + listings + audiences
        + templateAudiences + feedback + installations + installationConditions + installationHandles + notifications
        + control + parts + schedules + collapses + repetitions + deliveries + deadLetters + lanes + users + operators
        + jobs + history + pageRecords
        + traces + payloads
        + payloadQuotas
        + payloadAudits
        + composedMessages + deviceKeys + audienceTags + receipts + funnels + sends
}

/// What a storage did that it should not have done.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String
}

/// Throws unless two values are the same.
func require<Value: Equatable>(
    _ found: Value, is wanted: Value, _ what: String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
    guard found != wanted else { return }
    throw ConformanceFailure(description: "\(file):\(line) \(what) found \(found), wanted \(wanted)")
}

/// Throws unless there is a value.
func require<Value>(_ value: Value?, file: StaticString = #fileID, line: UInt = #line) throws -> Value {
    guard let value else { throw ConformanceFailure(description: "\(file):\(line) found nothing") }
    return value
}
