import MartletCore
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

/// Faults set while the simulator runs, and runs that repeat.
struct FaultControlTests {
    @Test func faultsAreSetAndTakenBack() async throws {
        try await withCourier { (run) async throws in
            let (status, body) = try await run.control(
                .post, "/simulator/faults", ["fault": "strike", "service": "courier"])
            #expect(status == 201)
            let id = try #require(body["id"]?.integer)
            #expect(await run.send().summary == "503 strike")
            let rule = try await run.control(.get, "/simulator/faults").1["faults"]?.array?.first
            #expect(rule?["fault"] == "strike")
            #expect(rule?["happened"] == 1)
            #expect(try await run.control(.delete, "/simulator/faults/\(id)").0 == 204)
            #expect(try await run.control(.delete, "/simulator/faults/\(id)").0 == 404)
            #expect(await run.send().summary == "200 taken 5")
        }
    }

    @Test func aScriptTakesThePlaceOfWhatThereWas() async throws {
        try await withCourier("strike") { (run) async throws in
            let script: JSON = ["seed": 3, "faults": [["fault": "unavailable", "next": 1]]]
            #expect(try await run.control(.put, "/simulator/faults", script).0 == 204)
            #expect(await run.send().summary == "503 unavailable")
            #expect(await run.send().summary == "200 taken 5")
            #expect(try await run.control(.get, "/simulator/faults").1["seed"] == 3)
            #expect(try await run.control(.delete, "/simulator/faults").0 == 204)
            #expect(try await run.control(.get, "/simulator/faults").1["faults"] == [])
        }
    }

    @Test(arguments: [
        #"{"fault":"BadTopic"}"#, #"{"fault":"slow","service":"pigeon"}"#, #"{"fault":"slow","dealy":1}"#, "{}", "[]",
    ])
    func aFaultThatNobodyHasIsRefused(body: String) async throws {
        try await withCourier { (run) async throws in
            let (status, answer) = try await run.control(
                .post, "/simulator/faults", try JSON(parsing: Array(body.utf8)))
            #expect(status == 400)
            #expect(answer["error"]?.string?.isEmpty == false)
        }
    }

    @Test func anUnknownFaultKeepsASimulatorFromStarting() async throws {
        await #expect(throws: SimulatorError.self) { try await withCourier("BadTopic") { _ in } }
    }

    @Test func aResetForgetsWhatWasDone() async throws {
        try await withCourier("strike handle=bob") { (run) async throws in
            _ = await run.send()
            _ = try await run.control(.post, "/simulator/faults", ["fault": "slow"])
            #expect(try await run.control(.post, "/simulator/reset").0 == 204)
            #expect(try await run.taken() == 0)
            #expect(try await run.control(.get, "/simulator/faults").1["faults"]?.array?.count == 1)
            #expect(await run.send("bob").summary == "503 strike")
        }
    }

    @Test func theClockCanBeSetForward() async throws {
        try await withCourier("strike after=3600000") { (run) async throws in
            #expect(await run.send().summary == "200 taken 5")
            #expect(try await run.control(.post, "/simulator/clock", ["advance": 3600]).0 == 200)
            #expect(await run.send().summary == "503 strike")
            #expect(try await run.control(.post, "/simulator/clock", ["advance": "x"]).0 == 400)
        }
    }

    @Test func theServicesAndTheirCredentialsAreTold() async throws {
        try await withCourier { (run) async throws in
            let (_, services) = try await run.control(.get, "/simulator/services")
            let origin = run.simulator.origins[Courier.platform]?.description
            #expect(services["courier"]?["origin"]?.string == origin)
            #expect(services["courier"]?["credential"]?["Endpoint"]?.string == origin)
            #expect(services["courier"]?["faults"]?.array?.contains("strike") == true)
        }
    }

    /// What came of the pushes to three devices, each device's in their order.
    private func outcomes(seed: Int64) async throws -> [String] {
        var patterns = ["", "", ""]
        try await withSimulator { run in
            let handles = try await run.devices(3)
            let script: JSON = [
                "seed": .integer(seed), "faults": [["fault": "BadTopic", "probability": .double(0.5)]],
            ]
            #expect(try await run.status(.put, "/simulator/faults", script) == 204)
            let outcomes = try await run.push("x", to: (0..<60).map { handles[$0 % 3] })
            for (index, outcome) in outcomes.enumerated() { patterns[index % 3] += outcome == .accepted ? "." : "x" }
        }
        return patterns
    }

    @Test func theSameSeedRepeatsARunExactly() async throws {
        let first = try await outcomes(seed: 11)
        #expect(try await outcomes(seed: 11) == first)
        #expect(try await outcomes(seed: 12) != first)
        #expect(first.allSatisfy { $0.contains("x") && $0.contains(".") })
    }
}
