"""GraphQL over WebSocket, by the protocol graphql-transport-ws."""

from tests.subscriptions.sockets import Server, changed, until


async def test_a_subscription_has_an_answer_for_each_batch_until_it_is_completed(
    server: Server, team: str
) -> None:
    async with server.begun(team) as socket:
        await socket.stands("a", variables={"since": "here"})
        [line] = server.feed.lines
        assert (line.team_id, line.since) == (team, "here")
        for cursor in ("1", "2"):
            server.feed.publish(cursor)
            assert await socket.hear() == {"type": "next", "id": "a", "payload": changed(cursor)}
        await socket.say("complete", id="a")
        await until(lambda: not server.feed.lines)
        assert await socket.is_open()
