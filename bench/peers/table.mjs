// The table as every peer reads and writes it: the requests that our own server sends.
import { Agent } from "node:http"
import { DynamoDBClient } from "@aws-sdk/client-dynamodb"
import { DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb"

const TableName = process.env.PLANNER_TABLE
// Endpoint, region and credentials come from the environment, as the SDK's documentation advises.
const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 50 }) },
  }),
)

const names = (...texts) =>
  Object.fromEntries(
    [...new Set(texts.join(" ").match(/#\w+/g))].map((name) => [name, name.slice(1)]),
  )

/** All items of a Query in the team's partition, page after page. */
export async function query(team, condition, values = {}, { filter, index } = {}) {
  const request = {
    TableName,
    IndexName: index,
    ConsistentRead: index ? undefined : true,
    KeyConditionExpression: condition ? `#pk = :pk AND ${condition}` : "#pk = :pk",
    FilterExpression: filter,
    ExpressionAttributeNames: names("#pk", condition, filter),
    ExpressionAttributeValues: { ":pk": `TEAM#${team}`, ...values },
    ReturnConsumedCapacity: "TOTAL",
  }
  const first = await client.send(new QueryCommand(request))
  let items = first.Items
  let next = first.LastEvaluatedKey
  while (next) {
    const page = await client.send(new QueryCommand({ ...request, ExclusiveStartKey: next }))
    items = items.concat(page.Items)
    next = page.LastEvaluatedKey
  }
  return items
}

const LIVE = "attribute_exists(#sk) AND attribute_not_exists(#deletingAt)"

const ownerExists = (team, sk) => ({
  ConditionCheck: {
    TableName,
    Key: { pk: `TEAM#${team}`, sk },
    ConditionExpression: LIVE,
    ExpressionAttributeNames: names(LIVE),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  },
})

/** Puts a new item if both its owners are there: the codes of what refused it, by action. */
export async function putOwned(team, owners, item, token) {
  const put = {
    TableName,
    Item: item,
    ConditionExpression: "attribute_not_exists(#sk)",
    ExpressionAttributeNames: names("#sk"),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  }
  const checks = owners.map((sk) => ownerExists(team, sk))
  try {
    await client.send(
      new TransactWriteCommand({
        TransactItems: [...checks, { Put: put }],
        ClientRequestToken: token,
        ReturnConsumedCapacity: "TOTAL",
      }),
    )
  } catch (error) {
    if (error.name !== "TransactionCanceledException") throw error
    return error.CancellationReasons.map((reason) => reason.Code)
  }
  return []
}
