import MartletModel
import Testing

@testable import MartletClient

struct ReceiptTests {
    let push = PushContent(userInfo: ["aps": ["alert": "hi"], "notificationId": "n1"])

    func receipt(_ number: Int, _ event: Receipt.Event = .received, device: String = "7") -> Receipt {
        Receipt(notification: "\(number)", event: event, at: Timestamp(milliseconds: 0), device: device)
    }

    @Test func receiptsGoOutTogetherAndAreForgottenThen() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(204)), id: "7")
        await phone.client.received(push)
        await phone.client.opened(push)
        await phone.client.received(push)
        #expect(await phone.receipts.load().count == 2)
        await phone.client.resume()
        let request = try #require(phone.server.requests.last)
        #expect(phone.server.lines.last == "POST /api/receipts")
        let at: JSON = "1970-01-01T00:00:00.000Z"
        #expect(
            try JSON(parsing: try #require(request.body)) == [
                "device": "7",
                "receipts": [
                    ["notification": "n1", "event": "received", "at": at],
                    ["notification": "n1", "event": "opened", "at": at],
                ],
            ])
        #expect(await phone.receipts.store.load() == nil)
    }

    @Test func aProcessThatIsStoppedSoonWaitsUntilTheServerKnows() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(204)), id: "7", retry: RetryPolicy(attempts: 1))
        await phone.client.received(push, within: .seconds(600))
        #expect(await phone.receipts.load().isEmpty)
        #expect(phone.server.lines == ["POST /api/sessions", "POST /api/receipts"])
    }

    @Test func itWaitsNoLongerThanItMay() async throws {
        let receipts = KeptReceipts()
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: SilentServer(),
            stores: ClientStores(registration: KeptID("7").store, receipts: receipts.store), tokens: Present(),
            retry: RetryPolicy(), environment: ClientEnvironment(timeLimit: { _ in }))
        await client.received(push, within: .seconds(5))
        #expect(await receipts.load().count == 1, "it is sent another time")
    }

    private struct Present: TokenProvider {
        func token(insteadOf refused: String?) -> String? { "T" }
    }

    @Test func theyGoOutByThemselves() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .offline, .answer(204)), id: "7", retry: RetryPolicy(attempts: 1))
        await phone.client.received(push)
        await phone.client.resume()
        await phone.client.resume()
        #expect(await phone.receipts.load().isEmpty)
    }

    @Test func receiptsThatTheServerDidNotTakeAreSentAtALaterLaunch() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .offline), id: "7")
        await phone.client.received(push)
        await phone.client.resume()
        #expect(await phone.receipts.load().count == 1)
        let later = try Phone(ScriptedServer(.session("T"), .answer(204)), after: phone)
        await later.client.resume()
        #expect(await later.receipts.load().isEmpty)
    }

    @Test func receiptsThatTheServerRefusesForGoodAreGivenUp() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(400)), id: "7")
        await phone.client.received(push)
        await phone.client.resume()
        #expect(await phone.receipts.load().isEmpty)
    }

    @Test func withoutALogInTheyWait() async throws {
        let phone = try await Phone(ScriptedServer(), id: "7", loggedIn: false)
        await phone.client.received(push)
        await phone.client.resume()
        #expect(await phone.receipts.load().count == 1)
        #expect(phone.server.requests.isEmpty)
    }

    @Test func nothingIsNotedThatTheServerCouldNotPlace() async throws {
        let phone = try await Phone(ScriptedServer(), id: "7")
        await phone.client.received(.other)
        await phone.client.received(PushContent(userInfo: ["aps": ["alert": "of somebody else"]]))
        let unregistered = try await Phone(ScriptedServer())
        await unregistered.client.received(push)
        #expect(await phone.receipts.load().isEmpty)
        #expect(await unregistered.receipts.load().isEmpty)
    }

    @Test func aBatchIsOfOneDeviceAndNoMoreThanTheServerTakes() {
        var queue = ReceiptQueue()
        queue.add(receipt(0, device: "old"))
        for number in 0..<1200 { queue.add(receipt(number + 1)) }
        #expect(queue.batch.map(\.device) == ["old"])
        queue.remove(queue.batch)
        #expect(queue.batch.count == 500)
        #expect(queue.batch.first?.notification == "1")
        queue.remove(queue.batch)
        #expect(queue.batch.first?.notification == "501")
    }

    @Test func theOldestGoWhereThereAreTooMany() {
        var queue = ReceiptQueue()
        for number in 0..<2100 { queue.add(receipt(number)) }
        #expect(queue.receipts.count == 2000)
        #expect(queue.receipts.first?.notification == "100")
        #expect(ReceiptQueue(queue.bytes) == queue)
        queue.add(
            Receipt(
                notification: String(repeating: "x", count: 129), event: .opened, at: Timestamp(seconds: 0), device: "7"
            ))
        #expect(queue.receipts.first?.notification == "100", "an id that is none of the server's is not kept")
    }

    @Test func anInvalidQueueIsAnEmptyOne() {
        for text in ["", "{", "{}", "[1]", #"[{"notification":"1"}]"#, #"[{"notification":"1","event":"eaten"}]"#] {
            #expect(ReceiptQueue(Array(text.utf8)) == ReceiptQueue())
        }
    }
}
