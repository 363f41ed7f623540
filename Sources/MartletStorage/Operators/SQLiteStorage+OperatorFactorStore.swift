public import MartletCore
public import MartletModel

extension SQLiteStorage: OperatorFactorStore {
    public func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).begin(secret, of: name)
        }
    }

    public func factor(of name: String) async throws(StorageError) -> OperatorFactor? {
        try await readers.read { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).factor(of: name)
        }
    }

    public func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).confirm(
                secret, of: name, step: step, recoveryCodes: recoveryCodes, at: now)
        }
    }

    public func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).use(of: name, step: step)
        }
    }

    public func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).useRecoveryCode(hash, of: name)
        }
    }

    public func removeFactor(of name: String) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try FactorTable(connection, sealer).remove(of: name)
        }
    }
}
