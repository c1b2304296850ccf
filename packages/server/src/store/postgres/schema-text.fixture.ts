import type pg from "pg";

/**
 * The schema of a live database in a stable form: a line for each thing that PostgreSQL's catalogs know of it, so that a
 * change of a migration shows as a difference of a few lines. Partitions are left out; they are made by the day.
 */
export async function schemaText(client: pg.Client): Promise<string> {
  const lines: string[] = [];
  for (const [title, text] of Object.entries(SECTIONS)) {
    const { rows } = await client.query<{ line: string }>(`select line from (${text}) as s order by line collate "C"`);
    lines.push(`# ${title}`, ...rows.map(({ line }) => line), "");
  }
  return lines.join("\n");
}

/** The condition for tables, views and indexes of the schema that are no partitions. */
const OURS = `c.relnamespace = 'drs'::regnamespace and not c.relispartition`;

/** Composes a query for the grants of an ACL, without the privileges that the owner has by default. */
const grants = (what: string, acl: string, source: string): string => `
  select ${what} || ': ' || string_agg(a.privilege_type, ', ' order by a.privilege_type) || ' to ' ||
      coalesce(nullif(a.grantee, 0)::regrole::text, 'public') as line
    from ${source} cross join lateral aclexplode(${acl}) a
    where a.grantee <> a.grantor
    group by ${what}, a.grantee`;

const SECTIONS: Readonly<Record<string, string>> = {
  tables: `
    select c.relname || case c.relkind when 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end ||
        coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as line
      from pg_class c where ${OURS} and c.relkind in ('r', 'p')`,
  views: `
    select c.relname || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') || ':' ||
        E'\\n' || pg_get_viewdef(c.oid) as line
      from pg_class c where ${OURS} and c.relkind = 'v'`,
  columns: `
    select c.relname || ':' || string_agg(E'\\n  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
        case when a.attnotnull then ' not null' else '' end ||
        coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') ||
        case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end, '' order by a.attnum) as line
      from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where ${OURS} and c.relkind in ('r', 'p') group by c.relname`,
  // Since PostgreSQL 18 a "not null" is a constraint too; the columns say it already.
  constraints: `
    select c.relname || ' ' || n.conname || ' ' || pg_get_constraintdef(n.oid) as line
      from pg_constraint n join pg_class c on c.oid = n.conrelid
      where ${OURS} and n.contype <> 'n'`,
  indexes: `
    select pg_get_indexdef(i.indexrelid) as line
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where ${OURS}`,
  triggers: `
    select pg_get_triggerdef(t.oid) || case t.tgenabled when 'O' then '' else ' ' || t.tgenabled::text end as line
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where ${OURS} and not t.tgisinternal`,
  functions: `
    select pg_get_functiondef(p.oid) as line
      from pg_proc p where p.pronamespace = 'drs'::regnamespace`,
  grants: `
    ${grants("'schema ' || n.nspname", "n.nspacl", "(select * from pg_namespace where nspname = 'drs') n")}
    union all
    ${grants("'table ' || c.relname", "c.relacl", `(select * from pg_class c where ${OURS}) c`)}
    union all
    ${grants(
      "'column ' || c.relname || '.' || t.attname",
      "t.attacl",
      `pg_attribute t join (select * from pg_class c where ${OURS}) c on c.oid = t.attrelid`,
    )}
    union all
    ${grants("'function ' || p.proname", "coalesce(p.proacl, acldefault('f', p.proowner))", "(select * from pg_proc where pronamespace = 'drs'::regnamespace) p")}
   `,
  roles: `
    select rolname || case when rolcanlogin then ' login' else ' nologin' end || case when rolsuper then ' superuser' else '' end ||
        case when rolcreatedb or rolcreaterole or rolreplication or rolbypassrls then ' with more' else '' end as line
      from pg_roles where rolname like 'drs%'`,
};
