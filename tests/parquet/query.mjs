// SPDX-License-Identifier: MIT
// query.mjs SQL... - prints what DuckDB answers to each query, rows as JSON, a line a query. DUCKDB is the directory of its package.
import {createRequire} from 'node:module';

const {DuckDBInstance} = createRequire(process.env.DUCKDB + '/')('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
for (const query of process.argv.slice(2))
  console.log(JSON.stringify((await connection.runAndReadAll(query)).getRowObjectsJson()));
