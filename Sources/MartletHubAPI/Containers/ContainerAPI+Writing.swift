import MartletCore
import MartletCrypto
import MartletHTTP

// Answers the requests that write blobs. A blob is uploaded whole, or as blocks that a block list then combines into a
// blob.
extension ContainerAPI {
    private static let blockListLimit = 8 << 20
    private static let blockLimit = 50_000

    @Sendable func put(_ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        try call.needs(.write)
        let address = try call.blob()
        switch call.query("comp") {
        case nil:
            guard call.request.fields["x-ms-blob-type"] == "BlockBlob" else { throw .badBlobType }
            return try await putBlob(address, call)
        case "block": return try await putBlock(address, call)
        case "blocklist": return try await putBlockList(address, call)
        case let operation?: throw .notServed("comp=\(operation.prefix(32))")
        }
    }

    private func putBlob(_ address: BlobAddress, _ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        if call.condition == .absent, await isThere(address) { throw .blobExists }
        let blob = try await transfer(call, call.condition) { () async throws(ContainerError) in
            try await store.upload(address, .fresh)
        }
        return created(blob)
    }

    private func putBlock(_ address: BlobAddress, _ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        guard let id = call.query("blockid").flatMap({ Base64.decode($0) }), (1...64).contains(id.count) else {
            throw .badBlockID
        }
        _ = try await transfer(call, .none) { () async throws(ContainerError) in
            try await store.uploadBlock(id, of: address)
        }
        return HTTPResponse(.created)
    }

    private func putBlockList(_ address: BlobAddress, _ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        let ids = try await blockIDs(call.request.reader)
        do throws(ContainerError) {
            return created(try await store.commitBlocks(ids, of: address, call.condition))
        } catch {
            throw refusal(error, call.condition)
        }
    }

    /// Streams the body into the upload that `begin` opens, and commits the upload if the body is complete.
    private func transfer(
        _ call: ContainerCall, _ condition: BlobCondition,
        to begin: () async throws(ContainerError) -> any BlobUpload
    ) async throws(BlobError) -> Blob {
        let reader = call.request.reader
        var cut: HTTPBodyError?
        do throws(ContainerError) {
            let upload = try await begin()
            while let piece = await next(reader, noting: &cut) { try await upload.write(piece) }
            if cut == nil { return try await upload.commit(condition) }
        } catch {
            throw refusal(error, condition)
        }
        throw cut.map { BlobError($0) } ?? .bodyCut
    }

    private func next(_ reader: any HTTPBodyReader, noting cut: inout HTTPBodyError?) async -> [UInt8]? {
        do throws(HTTPBodyError) {
            return try await reader.read()
        } catch {
            cut = error
            return nil
        }
    }

    private func refusal(_ error: ContainerError, _ condition: BlobCondition) -> BlobError {
        error == .conditionFailed && condition == .absent ? .blobExists : BlobError(error)
    }

    private func isThere(_ address: BlobAddress) async -> Bool {
        (try? await store.openBlob(address)) != nil
    }

    private func created(_ blob: Blob) -> HTTPResponse {
        HTTPResponse(.created, fields: BlobFields.fields(of: blob))
    }

    private func blockIDs(_ reader: any HTTPBodyReader) async throws(BlobError) -> [[UInt8]] {
        var bytes: [UInt8] = []
        do throws(HTTPBodyError) {
            bytes = try await reader.collect(upTo: Self.blockListLimit)
        } catch {
            throw BlobError(error)
        }
        let list = try? XMLReader(depthLimit: 3, elementLimit: Self.blockLimit + 1).read(bytes)
        guard let list, list.name == "BlockList" else { throw .badBlockList }
        var ids: [[UInt8]] = []
        for element in list.children {
            guard ["Latest", "Uncommitted"].contains(element.name) else { throw .noBlock }
            guard let id = Base64.decode(element.text.trimmed), (1...64).contains(id.count) else { throw .noBlock }
            ids.append(id)
        }
        return ids
    }
}
